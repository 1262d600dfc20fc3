/** Modules of undici that have no types of their own. */
declare module "undici/lib/api/api-connect.js" {
	import { connect } from "undici";

	export = connect;
}
declare module "undici/lib/core/connect.js" {
	import { buildConnector } from "undici";

	export = buildConnector;
}
declare module "undici/lib/dispatcher/agent.js" {
	import { Agent } from "undici";

	export = Agent;
}
declare module "undici/lib/dispatcher/dispatcher.js" {
	import { Dispatcher } from "undici";

	export = Dispatcher;
}
declare module "undici/lib/dispatcher/pool.js" {
	import { Pool } from "undici";

	export = Pool;
}
declare module "undici/lib/dispatcher/proxy-agent.js" {
	import { ProxyAgent } from "undici";

	export = ProxyAgent;
}
declare module "undici/lib/global.js" {
	export { setGlobalDispatcher } from "undici";
}
