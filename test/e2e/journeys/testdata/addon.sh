# A native addon for Node, which node-gyp builds with the headers of the machine when npm installs the package.
# needs: node npm g++ make python3
[ -e /usr/include/node/node_api.h ] || { echo "the headers of Node are not installed" >&2; exit 75; }
echo '{"name":"addon","version":"1.0.0","private":true}' >package.json
cat >binding.gyp <<'P'
{ "targets": [ { "target_name": "addon", "sources": [ "addon.c" ] } ] }
P
cat >addon.c <<'P'
#include <node_api.h>
static napi_value answer(napi_env env, napi_callback_info info) {
	napi_value v;
	napi_create_int32(env, 42, &v);
	return v;
}
NAPI_MODULE_INIT() {
	napi_value f;
	napi_create_function(env, "answer", NAPI_AUTO_LENGTH, answer, NULL, &f);
	return f;
}
P
# inside
export npm_config_nodedir=/usr npm_config_update_notifier=false
npm install --offline --no-audit --no-fund --loglevel error >/dev/null; node -p 'require("./build/Release/addon.node")()'
