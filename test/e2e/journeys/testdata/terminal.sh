# Programs for terminals: a multiplexer, an editor, a pager.
# needs: tmux vim less script
printf 'one\ntwo\nthree\n' >f
# inside
vim -Nesu NONE -c '%s/two/2/' -c wq f </dev/null; cat f
less -F f | cat
script -qec 'stty size; test -t 1 && echo terminal' /dev/null </dev/null | tr -d '\r' | tail -1
tmux -L journey -f /dev/null new-session -d -x 80 -y 24 sh; tmux -L journey send-keys 'echo in-$((40 + 2)) >out; tmux wait-for -S ready' Enter; tmux -L journey wait-for ready
cat out; tmux -L journey capture-pane -p >/dev/null; tmux -L journey kill-server
