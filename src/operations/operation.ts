import type { XStatic } from "typebox/schema";
import type { ContextCall, OperationMember } from "../hooks/context-object.js";
import type { CommandContext } from "../hooks/types.js";
import type { SessionRequest } from "../session/activity.js";
import type { SessionComponents } from "../session/session-components.js";

/** What an RPC command waits for, and which commands wait for it: see `modes/rpc/command-scheduler.ts`. */
export type Concurrency =
	/** Starts at once. All later commands, except those that also start at once, wait for it. */
	| "interrupt"
	/** Reads or changes state: waits for earlier `ordered` commands. */
	| "ordered"
	/** Prompts and compactions: wait for earlier `ordered` and `conversation` commands. */
	| "conversation"
	/** Replaces the session: waits like `conversation`, and all later commands except interrupts wait for it. */
	| "barrier"
	/** Waits for earlier `ordered` commands; no command waits for it. */
	| "parallel";

/** An operation as a member of the context object of hooks. @internal */
export interface ContextFace<Args extends unknown[], Result, M extends OperationMember> {
	readonly member: M;
	/** `commands`: handlers of events lack it, because they are awaited by what it would end or wait for. */
	readonly callers: "all" | "commands";
	/** Whether failures reject or throw. */
	readonly returns: CommandContext[M] extends (...args: never[]) => Promise<unknown> ? "promise" : "value";
	/** Default: `run` with the same arguments. Hooks are loaded without type checks: `args` are unchecked. */
	call?(
		run: (...args: Args) => Result,
		session: SessionComponents,
		call: ContextCall,
		...args: Parameters<CommandContext[M]>
	): ReturnType<CommandContext[M]>;
}

/** An RPC command is being answered. @internal */
export interface RpcCall {
	readonly session: SessionComponents;
	/** Reports a run that failed after its prompt was answered. */
	onFailure(message: string): void;
}

/** An operation as an RPC command. */
export interface RpcFace<Args extends unknown[], Result, Name extends string, Input, Answer> {
	/** The `type` of the command. */
	readonly command: Name;
	/** Default: `ordered`. */
	readonly concurrency?: Concurrency;
	/** JSON Schema of the fields in addition to `type` and `id`. Other fields are ignored. */
	readonly input: Input;
	/** @returns the `data` of the answer; null for none @internal */
	answer(run: (...args: Args) => Result, input: XStatic<Input>, call: RpcCall): Promise<Answer>;
}

/**
 * Something that a session can be told to do. One file declares it for all who call it: `run` is a method of `AgentSession`
 * of the same name and what slash commands use, `ctx` makes it a member of the context object of hooks, `rpc` a command of
 * the RPC mode.
 */
export interface Operation<
	Args extends unknown[],
	Result,
	Member extends OperationMember,
	Name extends string,
	Input,
	Answer,
> {
	/** The row of the table in `session/activity.ts` that says when it is refused with `session_busy`; null: never. */
	readonly request: SessionRequest | null;
	/** @internal */
	run(session: SessionComponents, ...args: Args): Result;
	/** @internal */
	readonly ctx?: ContextFace<Args, Result, Member>;
	readonly rpc?: RpcFace<Args, Result, Name, Input, Answer>;
}

/** Declares an operation. @internal */
export function operation<
	Args extends unknown[],
	Result,
	Member extends OperationMember = never,
	Name extends string = never,
	const Input = object,
	Answer = never,
>(
	declared: Operation<Args, Result, Member, Name, Input, Answer>,
): Operation<Args, Result, Member, Name, Input, Answer> {
	return declared;
}

/** An operation of one session. One that is refused while the session is busy returns a promise. @internal */
export function bind<Args extends unknown[], Result>(
	{ request, run }: Pick<Operation<Args, Result, never, never, never, never>, "request" | "run">,
	session: () => SessionComponents,
): (...args: Args) => Result {
	if (request === null) return (...args) => run(session(), ...args);
	const checked = async (...args: Args) => {
		const { activity } = session();
		// To its caller a run is over with `agent_end`, while hooks and file writes still finish.
		if (activity.isRunEnding && activity.verdict(request) === "refuse") await activity.untilRunEnded();
		session().activity.check(request);
		return run(session(), ...args);
	};
	return checked as (...args: Args) => Result;
}
