import {
	type AgentApp,
	type AuthMethod,
	agent,
	type ClientCapabilities,
	type InitializeResponse,
	methods,
	PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk";
import { packageVersion } from "../../util/package-root.js";
import { invalidParams, toRequestError } from "./acp-errors.js";
import type { AcpSessions } from "./acp-sessions.js";

/** Dependencies of the agent. */
export interface AcpAgentOptions {
	sessions: AcpSessions;
	/** Checks whether a model can be used now. @throws PiError that says how to log in */
	checkLogin(): Promise<void>;
	/** Counts the requests that are being answered. */
	track<T>(answer: Promise<T>): Promise<T>;
}

/** The login that `authenticate` checks: keys of the environment, of models.json, and those saved by `/login`. */
const KEYS: AuthMethod = {
	id: "keys",
	name: "API key or saved login",
	description: "Use /login in pi, or set a variable such as ANTHROPIC_API_KEY for pi acp, then try again",
};
/** The login that a client runs in a terminal. */
const TERMINAL: AuthMethod = {
	type: "terminal",
	id: "login",
	name: "Log in with pi",
	description: "Opens pi in a terminal to choose a provider and log in",
	args: ["--login"],
};

/** Creates the agent: one handler for each method, whose errors say what failed and what to do. @see docs/acp.md */
export function createAgent({ sessions, checkLogin, track }: AcpAgentOptions): AgentApp {
	const { session } = methods.agent;
	/** Turns the errors of a handler into errors of the protocol. */
	const handler =
		<Context, Result>(answer: (context: Context) => Promise<Result>) =>
		(context: Context): Promise<Result> =>
			track(
				answer(context).catch((error: unknown) => {
					throw toRequestError(error);
				}),
			);
	return agent({ name: "pi" })
		.onRequest(methods.agent.initialize, ({ params }) => {
			sessions.capabilities = params.clientCapabilities ?? {};
			return describeAgent(sessions.capabilities);
		})
		.onRequest(
			methods.agent.authenticate,
			handler(async ({ params }) => {
				if (params.methodId !== KEYS.id) {
					throw invalidParams(`There is no login method ${JSON.stringify(params.methodId)}`, `use ${KEYS.id}`);
				}
				await checkLogin();
				return {};
			}),
		)
		.onRequest(
			session.new,
			handler(({ params, client }) => sessions.begin(params, client)),
		)
		.onRequest(
			session.load,
			handler(({ params, client }) => sessions.reopen(params, "load", client)),
		)
		.onRequest(
			session.resume,
			handler(({ params, client }) => sessions.reopen(params, "resume", client)),
		)
		.onRequest(
			session.list,
			handler(({ params }) => sessions.list(params)),
		)
		.onRequest(
			session.close,
			handler(async ({ params }) => {
				await sessions.close(params.sessionId);
				return {};
			}),
		)
		.onRequest(
			session.setMode,
			handler(async ({ params }) => {
				await sessions.get(params.sessionId).setMode(params.modeId);
				return {};
			}),
		)
		.onRequest(
			session.setConfigOption,
			handler(async ({ params: { sessionId, configId, value } }) => ({
				configOptions: await sessions.get(sessionId).setOption(configId, value),
			})),
		)
		.onRequest(
			session.prompt,
			handler(async ({ params, signal }) => sessions.get(params.sessionId).prompt(params.prompt, signal)),
		)
		.onNotification(session.cancel, ({ params }) => sessions.cancel(params.sessionId));
}

function describeAgent(client: ClientCapabilities): InitializeResponse {
	return {
		protocolVersion: PROTOCOL_VERSION,
		agentInfo: { name: "pi", title: "pi", version: packageVersion() },
		agentCapabilities: {
			loadSession: true,
			promptCapabilities: { image: true, audio: false, embeddedContext: true },
			mcpCapabilities: { http: true, sse: false },
			sessionCapabilities: { list: {}, resume: {}, close: {} },
		},
		authMethods: client.auth?.terminal === true ? [TERMINAL, KEYS] : [KEYS],
	};
}
