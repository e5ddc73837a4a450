# A program with threads and a server, its jar, and the compiler.
# needs: java javac
cat >Main.java <<'P'
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.nio.file.*;
import java.util.concurrent.*;

public class Main {
	public static void main(String[] args) throws Exception {
		var pool = Executors.newFixedThreadPool(4);
		System.out.println(pool.submit(() -> 6 * 7).get());
		pool.shutdown();
		var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
		server.createContext("/", x -> { x.sendResponseHeaders(200, 6); x.getResponseBody().write("served".getBytes()); x.close(); });
		server.start();
		System.out.println(new String(URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/").toURL().openStream().readAllBytes()));
		server.stop(0);
		var p = new ProcessBuilder("sh", "-c", "echo child").start();
		System.out.print(new String(p.getInputStream().readAllBytes()));
		var d = Files.createTempDirectory("x");
		Files.writeString(d.resolve("f"), "x");
		System.out.println(Files.exists(d.resolve("f")));
	}
}
P
# inside
javac Main.java && java -Xmx128m Main
printf 'Main-Class: Main\n' >m && jar cfm main.jar m *.class && java -Xmx128m -jar main.jar
