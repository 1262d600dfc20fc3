import type { HookOperation } from "../hooks/context-object.js";
import type { SessionComponents } from "../session/session-components.js";
import * as all from "./all.js";
import { bind, type Concurrency, type Operation, type RpcCall, type RpcFace } from "./operation.js";

type Operations = typeof all;

/** What a session can be told to do, as functions: the methods of `AgentSession`. */
export type SessionOperations = {
	[N in keyof Operations]: Operations[N] extends Operation<
		infer Args,
		infer Result,
		infer _M,
		infer _N,
		infer _I,
		infer _A
	>
		? (...args: Args) => Result
		: never;
};

type FaceOf<O> =
	O extends Operation<infer Args, infer Result, infer _M, infer Name, infer Input, infer Answer>
		? [Name] extends [never]
			? never
			: RpcFace<Args, Result, Name, Input, Answer>
		: never;
type RpcFaces = { [N in keyof Operations]: FaceOf<Operations[N]> }[keyof Operations];

/** The operations that are RPC commands, by the `type` of the command. */
export type RpcOperations = { [F in RpcFaces as F["command"]]: F };

/** The `data` of the answers to these commands; null for commands without a result. */
export type RpcAnswers = {
	[N in keyof RpcOperations]: RpcOperations[N] extends RpcFace<infer _A, infer _R, infer _N, infer _I, infer Answer>
		? Answer
		: never;
};

type AnyOperation = Operation<never[], unknown, never, string, object, unknown>;

const OPERATIONS = Object.entries(all) as unknown as [name: keyof Operations, AnyOperation][];

/** The operations of a session. @param session the session, from the first call on @internal */
export function bindOperations(session: () => SessionComponents): SessionOperations {
	return Object.fromEntries(OPERATIONS.map(([name, each]) => [name, bind(each, session)])) as SessionOperations;
}

/** The operations that are members of the context object of hooks. @internal */
export function hookOperations(session: () => SessionComponents): HookOperation[] {
	return OPERATIONS.flatMap(([, each]) => {
		const { ctx } = each;
		if (!ctx) return [];
		const run = bind(each, session);
		const { member, callers, returns } = ctx;
		return [
			{
				...{ member, callers, returns },
				call: (call, args) =>
					ctx.call ? ctx.call(run, session(), call, ...(args as never)) : run(...(args as never[])),
			},
		];
	});
}

/** An RPC command that tells a session to do something. */
export interface RpcOperation {
	readonly concurrency: Concurrency;
	/** JSON Schema of its fields in addition to `type` and `id`. */
	readonly input: object;
	/** @param input matches the schema @returns the `data` of the answer; null for none @internal */
	answer(input: object, call: RpcCall): Promise<unknown>;
}

/** The RPC commands by the `type` of the command. */
export const RPC_OPERATIONS: Readonly<Record<keyof RpcOperations, RpcOperation>> = Object.fromEntries(
	OPERATIONS.flatMap(([, each]) => {
		const { rpc } = each;
		if (!rpc) return [];
		const { command, concurrency = "ordered", input } = rpc;
		const answer: RpcOperation["answer"] = (given, call) => {
			const run = bind(each, () => call.session);
			return rpc.answer(run, given as never, call);
		};
		return [[command, { concurrency, input, answer }]];
	}),
) as Record<keyof RpcOperations, RpcOperation>;
