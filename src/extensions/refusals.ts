/** Events that pi does not have, and why. */
export const REFUSED_EVENTS: Readonly<Record<string, string>> = {
	before_provider_headers: "headers may contain keys, which pi gives to no hook; use registerProvider({ headers })",
	cache_warming_decision: "pi sends no requests that keep a cache warm",
	context_with_system: "pi has no system messages; use before_agent_start for the system prompt",
	project_trust: "only the user decides which code of a project runs",
	session_compact_failed: "pi shows a failed compaction to the user, and does not pass it to hooks",
	ui_prompt_start: "pi does not pass the dialogs of other hooks to hooks",
	ui_prompt_end: "pi does not pass the dialogs of other hooks to hooks",
	agent_before_settle: "pi has no moment before a run settles; use agent_settled",
};

/** Why a provider cannot be an object of pi-ai. */
export const OBJECT_PROVIDER = "pi needs the name of the provider and its settings";

/** Why a prompt of an extension stays as it is. */
export const NO_EXPANSION = "a prompt of an extension is sent as it is; only the user runs commands and templates";

/** Members that pi does not have, and why. */
export const REFUSED_MEMBERS = {
	"pi.registerMarkdownTransformer": "pi draws text as the model wrote it",
	"ctx.sessionManager.buildContextEntries": "hooks compute the context; use the event context",
	"ctx.sessionManager.buildSessionProjection": "hooks compute the context; use the event context",
} as const satisfies Readonly<Record<string, string>>;

/** The name of a member that pi does not have. */
export type RefusedMember = keyof typeof REFUSED_MEMBERS;

/** Something that an extension uses and pi does not have. */
interface Refusal {
	what: string;
	reason: string;
}

/** Reports, once each, what an extension uses and pi does not have. */
export class Refusals {
	readonly #known = new Set<string>();
	#waiting: Refusal[] | null = [];

	/** @param report shows a sentence to the user, under the name of the extension */
	constructor(private readonly report: (sentence: string) => void) {}

	/** Reports in one sentence what was used before the session has started. */
	begin(): void {
		const waiting = this.#waiting ?? [];
		this.#waiting = null;
		const [first, ...others] = waiting;
		if (first === undefined) return;
		if (others.length === 0) this.report(describeRefusal(first.what, first.reason));
		else this.report(`not available in pi: ${waiting.map(({ what }) => what).join(", ")} · pi hooks check tells why`);
	}

	/** Reports that something is not available, unless it has been. */
	refuse(what: string, reason: string): void {
		if (!this.#isNew(describeRefusal(what, reason))) return;
		if (this.#waiting) this.#waiting.push({ what, reason });
		else this.report(describeRefusal(what, reason));
	}

	/** Reports something else that the author of the extension did not expect, unless it has been. */
	note(sentence: string): void {
		if (this.#isNew(sentence)) this.report(sentence);
	}

	#isNew(sentence: string): boolean {
		if (this.#known.has(sentence)) return false;
		this.#known.add(sentence);
		return true;
	}

	/** Reports that a member is not available, unless it has been. */
	member(name: RefusedMember): void {
		this.refuse(name, REFUSED_MEMBERS[name]);
	}
}

/** `ctx.ui.setTheme is not available in pi: the user chooses the theme` */
export function describeRefusal(what: string, reason: string): string {
	return `${what} is not available in pi: ${reason}`;
}
