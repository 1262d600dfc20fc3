import { describeError, type PiError } from "../../errors.js";
import { askApproval } from "../../hooks/ask-approval.js";
import type { SessionUI } from "../../hooks/session-ui.js";
import type { SessionActivity } from "../activity.js";

const BLOCK = "Block the call";
const ALLOW = "Run tool calls without it";

export interface RequiredHooksDeps {
	/** False: nobody can be asked while the session starts. */
	canAsk: boolean;
	/** True in a sub-session, which runs during a tool call of its parent: the user has decided there. */
	isDecided: boolean;
	/** Whether a hook that was named for the session must load for it to start. */
	requireNamed: boolean;
	activity: Pick<SessionActivity, "begin">;
	ui(): SessionUI;
}

/**
 * Hooks that were named for the session and packages of the user that did not load, whatever the reason. A hook in them may decide about tool calls, so that none runs
 * before the user has decided: gates fail closed.
 */
export class RequiredHooks {
	#missing: readonly string[] = [];
	#isAllowed = false;
	#hasStarted = false;
	#question: Promise<boolean> | null = null;

	constructor(private readonly deps: RequiredHooksDeps) {}

	/** True for the error of a hook without which the session must not start: `use` will throw it. */
	refuses({ code }: PiError): boolean {
		return code === "bad_arguments" && this.deps.requireNamed && !this.#hasStarted;
	}

	/**
	 * Call when the hooks have loaded.
	 * @param errors those of everything that did not load
	 * @throws PiError `bad_arguments` at the start for a named hook; `package_unloaded` if a package of the user is among them and nobody can be asked
	 */
	use(errors: readonly PiError[]): void {
		const refused = errors.find((error) => this.refuses(error));
		if (refused) throw refused;
		this.#hasStarted = true;
		if (this.deps.isDecided) return;
		const missing = errors.filter(({ code }) => code === "package_unloaded");
		const [first] = missing;
		if (first && !this.deps.canAsk) throw first;
		const lines = missing.map(describeError);
		if (lines.some((line) => !this.#missing.includes(line))) this.#isAllowed = false;
		this.#missing = lines;
	}

	/** Asks the user once for all calls at the same time. @returns why a tool call must not run; null if it may */
	async refusal(signal: AbortSignal): Promise<string | null> {
		if (this.#missing.length === 0 || this.#isAllowed) return null;
		this.#question ??= this.#ask(signal).finally(() => {
			this.#question = null;
		});
		this.#isAllowed = await this.#question;
		return this.#isAllowed
			? null
			: `Blocked: ${this.#missing.join("\n")}\nThe user has not allowed tool calls without it.`;
	}

	async #ask(signal: AbortSignal): Promise<boolean> {
		const dialog = this.deps.activity.begin("dialog");
		try {
			const title = `${this.#missing.join("\n")}\nIts hooks cannot decide about tool calls.`;
			const approval = { question: title, subject: { kind: "text", text: "" }, yes: ALLOW, no: BLOCK } as const;
			return (await askApproval(this.deps.ui(), approval, { signal })).allowed;
		} finally {
			dialog.end();
		}
	}
}
