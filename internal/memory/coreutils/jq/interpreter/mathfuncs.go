package interpreter

import "math"

var mathFunctions = map[string]func(float64) float64{
	"floor": math.Floor, "ceil": math.Ceil, "sqrt": math.Sqrt, "round": math.Round, "trunc": math.Trunc, "fabs": math.Abs,
	"rint": math.RoundToEven, "nearbyint": math.RoundToEven, "exp": math.Exp, "exp2": math.Exp2, "exp10": func(x float64) float64 { return math.Pow(10, x) },
	"pow10": func(x float64) float64 { return math.Pow(10, x) }, "expm1": math.Expm1, "log": math.Log, "log2": math.Log2, "log10": math.Log10,
	"log1p": math.Log1p, "logb": math.Logb, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh, "cbrt": math.Cbrt,
	"gamma": lgamma, "lgamma": lgamma, "tgamma": math.Gamma, "j0": math.J0, "j1": math.J1, "y0": math.Y0, "y1": math.Y1,
	"significand": significand,
}

var mathFunctions2 = map[string]func(x, y float64) float64{
	"pow": math.Pow, "atan2": math.Atan2, "fmod": math.Mod, "fmin": math.Min, "fmax": math.Max, "hypot": math.Hypot,
	"copysign": math.Copysign, "drem": math.Remainder, "fdim": math.Dim, "nextafter": math.Nextafter, "nexttoward": math.Nextafter,
	"ldexp": func(x, y float64) float64 { return math.Ldexp(x, clampInt(y)) }, "scalb": func(x, y float64) float64 { return x * math.Exp2(y) },
	"scalbln": func(x, y float64) float64 { return math.Ldexp(x, clampInt(y)) },
}

var mathSpecial = map[string]function1{
	"frexp/0": func(_ *machine, in Value, _ []Value) (Value, error) {
		f, err := numeric(in)
		frac, exp := math.Frexp(f)
		return NewArray(frac, float64(exp)), err
	},
	"modf/0": func(_ *machine, in Value, _ []Value) (Value, error) {
		f, err := numeric(in)
		whole, frac := math.Modf(f)
		if math.IsInf(f, 0) {
			frac = math.Copysign(0, f)
		}
		return NewArray(frac, whole), err
	},
	"lgamma_r/0": func(_ *machine, in Value, _ []Value) (Value, error) {
		f, err := numeric(in)
		v, sign := math.Lgamma(f)
		return NewArray(v, float64(sign)), err
	},
	"fma/3": func(_ *machine, _ Value, a []Value) (Value, error) {
		x, err := numeric(a[0])
		if err != nil {
			return nil, err
		}
		y, err := numeric(a[1])
		if err != nil {
			return nil, err
		}
		z, err := numeric(a[2])
		return math.FMA(x, y, z), err
	},
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

func significand(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	frac, _ := math.Frexp(x)
	return frac * 2
}

func clampInt(f float64) int { return int(max(-1<<20, min(f, 1<<20))) }

func numeric(v Value) (float64, error) {
	f, ok := number(v)
	if !ok {
		return 0, errorf("%s (%s) number required", kind(v), shortJSON(v))
	}
	return f, nil
}

func math1(f func(float64) float64) function1 {
	return func(_ *machine, in Value, _ []Value) (Value, error) {
		x, err := numeric(in)
		if err != nil {
			return nil, err
		}
		return f(x), nil
	}
}

func math2(f func(x, y float64) float64) function1 {
	return func(_ *machine, _ Value, a []Value) (Value, error) {
		x, err := numeric(a[0])
		if err != nil {
			return nil, err
		}
		y, err := numeric(a[1])
		if err != nil {
			return nil, err
		}
		return f(x, y), nil
	}
}
