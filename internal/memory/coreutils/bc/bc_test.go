package bc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func Test_Bc_Computes(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, program := range []string{
		`1;quit;2`,
		"if (0) quit\n3",
		"1+\n2",
		`a=1;b=2;a<b;a=3<5;!0;1&&0;1||0;-2^2;2^-1;2^3^2;-5%3;5.5%2;scale=2;7%3;10/3;1/3*3;.5;-.5;0;sqrt(2);sqrt(16);length(123.45);scale(1.200);2^100`,
		`2^300`,
		`ibase=16;FF;A;obase=2;F;ibase=A;5`,
		`obase=16;255;255.5;obase=20;399;obase=100;12345;obase=2;10.625;-3`,
		`define f(x){auto y;y=x*2;return(y)};f(3)`,
		"define f(x){\nauto y\ny=x*2\nreturn(y)\n}\nf(3)",
		"define f(n){if(n<=1)return(1);return(n*f(n-1))}\nf(20)",
		`x[1]=5;x[1];x[0]`,
		`obase=17;16.5;300.123;-.5;scale=5;.01`,
		`"hello";"a\nb";print "x\n",1+1,"\n"`,
		`for(i=0;i<3;i++){i;if(i==1)continue;"z"};while(1){break};i;last;.;i++;++i;i--`,
		"1.10+1.1;1.23*4.567;scale=5;1.23*4.567;1.5^3;/* c */ 3 # x\n4",
		"if(1){2}else{3}\nif(0) 2 else 3",
		`a+=2;a;a*=3;a^=2;a;a%=5;a;scale=3;a/=2;a;a-=1;a;(a=5);a=b=2`,
		`123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890`,
		`5 5`,
		"define f(a[]){a[0]=9;return(a[0])}\nb[0]=1;f(b[]);b[0]",
		"define void p(x){print x,\"\\n\"}\np(3)",
		`0.0001;1.0;00012;1000000*.000001;-0;3-3.00`,
		`1/3`,
		`scale=50;1/7;sqrt(3)`,
		`scale=10;1/3;2/3;-2/3;10%3;10.5%3;-10.5%3`,
		"a=5\na",
		`3>2;3<2;2==2;2!=2;3>=3;(3>2)+1`,
		`length(0);length(100);length(.001);scale(0);scale(5.50)`,
		`99999999999999999999*99999999999999999999`,
		`i=5;while(i>0){i;i-=1}`,
		`1;2;3`,
		`1,2`,
		`{1;2}`,
		"define g(a,b){return(a+b)}\ng(1,2)",
		`(1+2)*3`,
		`((1))`,
		`-(3)`,
		`a=-3;-a;+a`,
		`1-1;1--1`,
		`2*-3`,
		`obase=16;ibase=16;FF+1`,
		`ibase=2;101.1;ibase=1010;5`,
		`scale=3;a=1/3;a*3`,
		`print 1,2,"\t",3`,
		`print "a\qb\\"`,
		`auto`,
		`halt`,
		"1\nhalt\n2",
		"# comment\n1",
		"/* multi\nline */2",
		"1 \\\n+ 2",
		`.5+.5;0.5*2;1.50;100.00/1;scale=2;100/7`,
		`10^20;10^-2;scale=5;10^-2;2^-3`,
		`a[1]=2;a[2]=3;a[1]+a[2];a[a[1]]`,
		`last;5;last*2`,
		`x=3;x++ + ++x;x`,
		"define f(x){return}\nf(1)",
		"define f(x){x}\nf(4)",
		`if(2>1)"yes"`,
		`for(;;){if(i++>3)break};i`,
		`scale=20;4*1.5`,
		`e=3;e`,
		`1e5`,
		`abc`,
		`0.1+0.2`,
		`1000000000000/7`,
		`scale=100;355/113`,
		`2^1000`,
		`-2^1001`,
		`obase=16;2^300;obase=10;-1.5;.05-.1`,
		`ibase=16;1.8;ibase=A;obase=2;.1;scale=5;.1`,
		"define f(x){scale=x;return(1/3)}\nf(4);scale",
		`1==1 && 2==2`,
		`!(1==1)`,
		`a=1;a==1`,
		`b`,
		`1;;2`,
		`;`,
		"\n\n1",
		`(1`,
		`1)`,
		`$`,
		`@`,
		`1&2`,
		`x = = 2`,
		`for(i=0;i<2;i++)i`,
		`while(i<2){i++;i}`,
		`if(1)1;2`,
		`if(0)1;2`,
		`a=10;b=3;a/b;a%b;scale=4;a/b;a%b;a^b;a-b`,
	} {
		rows = append(rows, programtest.Row{Line: "bc", Stdin: program + "\n"})
	}
	for _, program := range []string{
		`s(1);c(1);a(1);l(2);e(1);j(0,1);e(0);l(1);s(0);e(-1);e(100);a(1)*4;l(0);s(100)`,
		`scale=50;4*a(1);e(1);l(10);s(2);c(3);a(.5)`,
		`scale=5;e(2.5);l(3);s(1.57);c(1.57);a(2)`,
		`e(10);e(-10);e(.5);e(50)`,
		`l(100);l(.5);l(10^10);l(.001)`,
		`s(-1);s(3);s(10);s(1000);c(10);c(-1);c(0)`,
		`a(0);a(-1);a(10);a(.1);a(1000)`,
		`j(1,2);j(2,3);j(0,0);j(3,.5);j(1,10)`,
		`pi=4*a(1);pi;s(pi/6);c(pi/3);s(pi/2)`,
		`scale=0;e(1);l(10)`,
		`scale;1/3`,
		`e(1)^2;l(e(1));sqrt(2)`,
		`scale=10;for(i=1;i<5;i++)l(i)`,
		`scale=2;s(.5);e(3.3);a(5)`,
		`x=2;e(x*l(3))`,
		`scale=30;e(1.5);l(7);a(7);s(7);c(7);j(2,5)`,
	} {
		rows = append(rows, programtest.Row{Line: "bc -l", Stdin: program + "\n"})
	}
	programtest.RunReadOnly(t, "echo 1+1 > f", append(rows, programtest.Row{Line: "bc f", Stdin: "2+2\n"}, programtest.Row{Line: "bc nofile"}, programtest.Row{Line: "bc -q f -", Stdin: "3"}))
}

func Test_Bc_Ends_When_It_Takes_Too_Much(t *testing.T) {
	t.Parallel()
	for _, program := range []string{
		"while(1){}", "x=2;for(;;)x*=x", "2^2^2^2^2^2", "define f(x){return(f(x))}\nf(1)", "scale=100000\na(1)+1/3", "for(i=0;;i++)a[i%10000]=i",
		strings.Repeat("(", 1000000), "scale=99999;sqrt(2);1/3;e(1)", ".5^9999999", ".1^9999999",
	} {
		t.Run(program[:min(len(program), 20)], func(t *testing.T) {
			var out, msg bytes.Buffer
			p := shell.NewProc(t.Context(), shell.ProcOptions{
				Args: []string{"bc", "-l"}, Env: programtest.RealEnv(nil), Stdin: strings.NewReader(program + "\n"), Stdout: &out, Stderr: &msg,
				Limits: shell.Limits{Fuel: 1_000_000},
			})
			if status := programtest.RunOf(t, "bc")(p); status == 0 && msg.Len() == 0 {
				t.Errorf("status 0, %.200q", out.String())
			}
		})
	}
}
