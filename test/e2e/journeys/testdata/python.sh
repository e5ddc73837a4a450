# A virtual environment, processes, servers on loopback, databases.
# needs: python3
cat >work.py <<'P'
import asyncio, concurrent.futures, http.server, multiprocessing, os, signal, socket, sqlite3, subprocess, sys, tempfile, threading, urllib.request

def square(n):
    return n * n

async def child():
    p = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('child')", stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate()
    return out.decode().strip()

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(square, range(100))))
    multiprocessing.set_start_method("spawn", force=True)
    q = multiprocessing.Queue()
    p = multiprocessing.Process(target=q.put, args=("spawned",)); p.start(); print(q.get()); p.join()
    lock = multiprocessing.Lock()
    with lock, concurrent.futures.ProcessPoolExecutor(2) as e:
        print(list(e.map(square, [3, 4])))
    print(asyncio.run(child()))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(len(urllib.request.urlopen(f"http://localhost:{server.server_port}/work.py").read()) > 1000)
    a, b = socket.socketpair(); a.send(b"pair"); print(b.recv(10))
    with socket.socket(socket.AF_UNIX) as s, socket.socket(socket.AF_UNIX) as c:
        s.bind("s.sock"); s.listen(); c.connect("s.sock"); print("unix")
    os.unlink("s.sock")
    with sqlite3.connect("db.sqlite") as db:
        db.execute("pragma journal_mode=wal"); db.execute("create table t (x)"); db.executemany("insert into t values (?)", [(i,) for i in range(1000)])
        print(db.execute("select sum(x) from t").fetchone())
    with tempfile.TemporaryDirectory() as d:
        open(os.path.join(d, "f"), "w").write("x"); print(os.listdir(d))
    print(subprocess.run("kill -TERM $$", shell=True).returncode, signal.getsignal(signal.SIGINT) is not None)
P
# inside
python3 -m venv .venv
.venv/bin/python work.py
.venv/bin/python -m pip --version | cut -d' ' -f1
printf 'def test():\n    assert 1 + 1 == 2\n' >test_it.py; .venv/bin/python -m unittest discover -q 2>&1 | tail -1 | cut -c1-2
.venv/bin/python -c 'import sys; print(sys.prefix.endswith(".venv"))'
