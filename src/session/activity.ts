import { setMaxListeners } from "node:events";
import type { AgentEvent } from "../agent/events.js";
import { PiError } from "../errors.js";
import { linkSignals } from "../util/abort.js";

/** What can keep a session busy. Several may be active at once: a tool asks in a dialog, a command compacts. */
export type OperationKind =
	| "run"
	| "compacting"
	| "shell"
	/** Hooks decide on a prompt that is not an entry yet. */
	| "prompting"
	| "command"
	| "dialog"
	| "switching"
	| "closing";

/** What a run is doing. In `ending` its last reply is logged; hooks, file writes and auto-compaction still finish. */
export type RunPhase = "requesting" | "streaming" | "tools" | "retrying" | "ending";

/** Something the session is doing. */
export interface ActiveOperation {
	/** Unique in the session. */
	readonly id: number;
	readonly kind: OperationKind;
	/** The command, `shortcut <key>`, the shell command, the dialog's title, or the reason for a switch or compaction; else empty. */
	readonly name: string;
	/** Phase of a run. `ending` for a shell command that has ended, whose entry waits for the end of the run; else null. */
	readonly phase: RunPhase | null;
}

/** What a session is doing: an immutable snapshot. */
export interface Activity {
	/** The operation that decides what the user sees and can do. */
	readonly state: "idle" | OperationKind;
	/** Phase of the run; null without a run. */
	readonly phase: RunPhase | null;
	/** Oldest first. */
	readonly operations: readonly ActiveOperation[];
}

/** Requests to a session from users, hooks and programs. Abort and quit are always possible. */
export type SessionRequest = "prompt" | "compact" | "undo" | "shell" | "command" | "switch";

/** `queue`: accepted and delivered later. */
export type Verdict = "allow" | "queue" | "refuse";

/** With several active operations, the first of these kinds is the state. */
const PRECEDENCE: readonly OperationKind[] = [
	"closing",
	"switching",
	"dialog",
	"compacting",
	"run",
	"shell",
	"prompting",
	"command",
];

const ANYTHING = {
	prompt: "allow",
	compact: "allow",
	undo: "allow",
	shell: "allow",
	command: "allow",
	switch: "allow",
} as const;
const NOTHING = {
	prompt: "refuse",
	compact: "refuse",
	undo: "refuse",
	shell: "refuse",
	command: "refuse",
	switch: "refuse",
} as const;

/** What each operation allows while it is active. With several active, the strictest verdict counts. */
const RULES: Readonly<Record<OperationKind, Readonly<Record<SessionRequest, Verdict>>>> = {
	run: { ...ANYTHING, prompt: "queue", compact: "refuse", undo: "refuse" },
	compacting: { ...ANYTHING, prompt: "queue", compact: "refuse", undo: "refuse" },
	shell: { ...ANYTHING, shell: "refuse", undo: "refuse" },
	prompting: ANYTHING,
	command: ANYTHING,
	dialog: ANYTHING,
	switching: { ...NOTHING, prompt: "queue", command: "allow" },
	closing: NOTHING,
};

/** At most one operation of these kinds is active. */
const EXCLUSIVE: ReadonlySet<OperationKind> = new Set(["run", "compacting", "shell", "switching", "closing"]);

/** Operations that an abort waits for. The others end when their caller returns. */
const AWAITED = ["run", "compacting", "shell", "prompting"] as const;

const BUSY: Readonly<Record<OperationKind, string>> = {
	run: "The agent is running",
	compacting: "A compaction is already running",
	shell: "A shell command is already running",
	prompting: "Hooks are checking a prompt",
	command: "A command is running",
	dialog: "A dialog is open",
	switching: "The session is being switched",
	closing: "The session is closing",
};

/** Handle of an active operation. */
export interface Operation {
	/** Aborted by `SessionActivity.abort` and by the signals passed to `begin`. */
	readonly signal: AbortSignal;
	/** @param phase the new phase; setting the same phase again does nothing */
	enter(phase: RunPhase): void;
	/** Ends the operation. Safe to call more than once. */
	end(): void;
}

interface Entry {
	snapshot: ActiveOperation;
	controller: AbortController;
}

const IDLE: Activity = Object.freeze({ state: "idle", phase: null, operations: Object.freeze([]) });

/**
 * Tracks whether the session is busy, with what, and what Escape stops. Everything that keeps a session busy is an
 * operation that begins and ends here; queue, views and modes derive their state from the snapshots.
 */
export class SessionActivity {
	#entries: readonly Entry[] = [];
	#current = IDLE;
	#lastId = 0;
	readonly #listeners = new Set<(activity: Activity) => void>();
	#waiters: (() => void)[] = [];
	#nextAbort = new AbortController();

	get current(): Activity {
		return this.#current;
	}

	/** Calls `listener` after each change. @returns a function that unsubscribes it */
	subscribe(listener: (activity: Activity) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Whether an operation of one of these kinds is active. */
	has(...kinds: readonly OperationKind[]): boolean {
		return this.#entries.some(({ snapshot }) => kinds.includes(snapshot.kind));
	}

	/** Signal of the most recent active operation; null when the session is idle. */
	get signal(): AbortSignal | null {
		return this.#entries.at(-1)?.controller.signal ?? null;
	}

	/** Aborted by the next `abort` of everything or of a run, also when the session is idle. */
	get nextAbort(): AbortSignal {
		return this.#nextAbort.signal;
	}

	/** Whether the session accepts a request now. */
	verdict(request: SessionRequest): Verdict {
		const verdicts = this.#entries.map(({ snapshot }) => verdictOf(snapshot, request));
		if (verdicts.includes("refuse")) return "refuse";
		return verdicts.includes("queue") ? "queue" : "allow";
	}

	/**
	 * @param apart operations that do not count
	 * @throws PiError `session_busy` when the request is refused, naming the blocking operation
	 */
	check(request: SessionRequest, apart?: OperationKind): void {
		const blocker = this.#entries.find(
			({ snapshot }) => snapshot.kind !== apart && verdictOf(snapshot, request) === "refuse",
		);
		if (blocker) throw busy(blocker.snapshot.kind);
	}

	/**
	 * Begins an operation. The caller must end it.
	 * @param signals also abort the operation
	 * @throws PiError `session_busy` when its kind is exclusive and already active, or the session is closing
	 */
	begin(
		kind: OperationKind,
		{
			name = "",
			phase = null,
			signals = [],
		}: { name?: string; phase?: RunPhase | null; signals?: readonly AbortSignal[] } = {},
	): Operation {
		// Hooks may still open dialogs during their shutdown.
		if (kind !== "dialog" && this.has("closing")) throw busy("closing");
		const isActive = this.#entries.some(({ snapshot }) => snapshot.kind === kind && !isShellEnding(snapshot));
		if (EXCLUSIVE.has(kind) && isActive) throw busy(kind);
		const controller = new AbortController();
		const linked = linkSignals(controller.signal, ...signals);
		// Each of the parallel calls of a message listens: Node warns of a leak from the eleventh on.
		setMaxListeners(0, linked.signal);
		const snapshot = Object.freeze({ id: ++this.#lastId, kind, name, phase });
		const entry: Entry = { snapshot, controller };
		this.#change([...this.#entries, entry]);
		return {
			signal: linked.signal,
			enter: (next) => {
				if (entry.snapshot.phase === next || !this.#entries.includes(entry)) return;
				entry.snapshot = Object.freeze({ ...entry.snapshot, phase: next });
				this.#change(this.#entries);
			},
			end: () => {
				if (!this.#entries.includes(entry)) return;
				linked.unlink();
				this.#change(this.#entries.filter((other) => other !== entry));
			},
		};
	}

	/** Aborts operations of these kinds; without kinds, all but `closing`. Each ends once it has stopped. */
	abort(...kinds: readonly OperationKind[]): void {
		for (const { snapshot, controller } of this.#entries) {
			const { kind } = snapshot;
			if (kinds.length === 0 ? kind !== "closing" : kinds.includes(kind)) controller.abort();
		}
		if (kinds.length > 0 && !kinds.includes("run")) return;
		const next = this.#nextAbort;
		this.#nextAbort = new AbortController();
		next.abort();
	}

	/** Aborts run, compaction, shell command and the hooks of a prompt, and waits until they end. Commands and dialogs continue. */
	async stop(): Promise<void> {
		this.abort(...AWAITED);
		await this.until(...AWAITED);
	}

	/** Resolves once no operation of these kinds is active. Without kinds: those that `stop` aborts. */
	async until(...kinds: readonly OperationKind[]): Promise<void> {
		const awaited = kinds.length === 0 ? AWAITED : kinds;
		while (this.has(...awaited)) await new Promise<void>((resolve) => this.#waiters.push(resolve));
	}

	/** Resolves once the operations that `stop` would abort now have ended. Unlike `until`, it does not wait for later ones. */
	async untilEnded(): Promise<void> {
		const awaited = this.#entries.filter(({ snapshot }) => AWAITED.some((kind) => kind === snapshot.kind));
		while (awaited.some((entry) => this.#entries.includes(entry))) {
			await new Promise<void>((resolve) => this.#waiters.push(resolve));
		}
	}

	/** Resolves after the next change. */
	changed(): Promise<void> {
		return new Promise((resolve) => {
			const stop = this.subscribe(() => {
				stop();
				resolve();
			});
		});
	}

	/** See the function `isRunEnding`. */
	get isRunEnding(): boolean {
		return isRunEnding(this.#current);
	}

	/** Waits while `isRunEnding`. */
	async untilRunEnded(): Promise<void> {
		while (this.isRunEnding) await this.until("run");
	}

	#change(entries: readonly Entry[]): void {
		const hasEnded = entries.length < this.#entries.length;
		this.#entries = entries;
		this.#current = snapshotOf(entries.map(({ snapshot }) => snapshot));
		for (const listener of [...this.#listeners]) listener(this.#current);
		if (hasEnded) for (const resolve of this.#waiters.splice(0)) resolve();
	}
}

function verdictOf(operation: ActiveOperation, request: SessionRequest): Verdict {
	return isShellEnding(operation) ? "allow" : RULES[operation.kind][request];
}

/** Whether a shell command has ended and only its entry is missing, which keeps nobody from anything. */
function isShellEnding({ kind, phase }: ActiveOperation): boolean {
	return kind === "shell" && phase === "ending";
}

function snapshotOf(operations: readonly ActiveOperation[]): Activity {
	const state = PRECEDENCE.find((kind) => operations.some((operation) => operation.kind === kind));
	if (state === undefined) return IDLE;
	const phase = operations.find(({ kind }) => kind === "run")?.phase ?? null;
	return Object.freeze({ state, phase, operations: Object.freeze([...operations]) });
}

function busy(kind: OperationKind): PiError {
	const hint = kind === "closing" ? {} : { hint: "wait, or stop it first" };
	return new PiError("session_busy", BUSY[kind], hint);
}

/** Whether a run is in its `ending` phase and nothing else keeps a prompt: to users a run is over after its last reply. */
export function isRunEnding({ phase, operations }: Activity): boolean {
	const others: readonly OperationKind[] = ["compacting", "switching", "closing"];
	return phase === "ending" && !operations.some(({ kind }) => others.includes(kind));
}

/** The phase that a run enters with an agent event; null when the event does not change the phase. */
export function phaseAfter(event: AgentEvent): RunPhase | null {
	switch (event.type) {
		case "agent_start":
		case "turn_start":
			return "requesting";
		case "message_start":
			return event.message.role === "assistant" ? "streaming" : null;
		case "tool_execution_start":
			return "tools";
		case "auto_retry_start":
			return "retrying";
		case "agent_end":
			return "ending";
		default:
			return null;
	}
}
