import { setImmediate as nextTick } from "node:timers/promises";
import { askApproval } from "../../hooks/ask-approval.js";
import type { SessionUI } from "../../hooks/session-ui.js";
import { isSessionHeader } from "../../log/entry.js";
import { type RequestUsage, usageOf } from "../../log/request-usage.js";
import type { SessionLog } from "../../log/session-log.js";
import { openSavedUsage } from "../../services/store/saved-usage.js";
import type { UsageIndex } from "../../usage/usage-index.js";
import { startOfDay } from "../../usage/usage-report.js";
import { monotonicMs } from "../../util/clock.js";
import { formatCost, roundCost } from "../../util/format-amounts.js";
import type { SessionCore } from "../session-core.js";

export interface BudgetDeps extends Pick<SessionCore, "store" | "state" | "activity"> {
	ui(): SessionUI;
}

/** A budget and what was spent of it, in US dollars. */
interface Account {
	/** What the approvals of the user belong to: a session or a day. */
	key: string;
	setting: "budget.perSession" | "budget.perDay";
	subject: string;
	limit: number;
	spent: number;
}

/** Files of other sessions are read again after this time, in ms. */
const REFRESH_MS = 10_000;
/** Entries that are parsed before other work may run: a few ms. */
const PARSED_AT_A_TIME = 200;

/** Compares the cost of the session and of the day with the budgets in the settings. */
export class Budget {
	readonly #session = new OwnRequests();
	/** Amounts up to which the user approved spending, by `Account.key`. */
	readonly #approved = new Map<string, { limit: number; upTo: number }>();
	#index: UsageIndex | null = null;
	#refreshedAt = Number.NEGATIVE_INFINITY;

	constructor(private readonly deps: BudgetDeps) {}

	/** Whether `ask` would ask now. */
	async isExceeded(): Promise<boolean> {
		return (await this.#exceeded()).length > 0;
	}

	/**
	 * Asks the user whether to continue when a budget is spent, and again after another step of its size. Without a user the
	 * answer is no.
	 * @returns why the next request must not be sent; null to send it
	 */
	async ask(signal: AbortSignal): Promise<string | null> {
		for (const account of await this.#exceeded()) {
			const { key, setting, subject, limit, spent } = account;
			const upTo = (Math.floor(spent / limit) + 1) * limit;
			const facts = `${subject} cost ${formatCost(spent)}; the budget is ${formatCost(limit)}`;
			const dialog = this.deps.activity.begin("dialog", { name: setting });
			try {
				const message = `${facts}. pi asks again at ${formatCost(upTo)}.`;
				const subject = { kind: "text", text: message } as const;
				const approval = { question: "Continue over budget?", subject, yes: "Yes" };
				if (!(await askApproval(this.deps.ui(), approval, { signal })).allowed) {
					return `${facts} · raise ${setting} in the settings to continue`;
				}
			} finally {
				dialog.end();
			}
			this.#approved.set(key, { limit, upTo });
		}
		return null;
	}

	async #exceeded(): Promise<Account[]> {
		const accounts = await this.#accounts();
		return accounts.filter(({ key, limit, spent }) => {
			const approved = this.#approved.get(key);
			return spent >= (approved?.limit === limit ? approved.upTo : limit);
		});
	}

	async #accounts(): Promise<Account[]> {
		const { perSession, perDay } = this.deps.store.settings.current.budget;
		if (perSession === 0 && perDay === 0) return [];
		const { log } = this.deps.state;
		const own = await this.#session.of(log);
		const accounts: Account[] = [];
		if (perSession > 0) {
			const spent = costOf(own);
			accounts.push({
				key: log.id,
				setting: "budget.perSession",
				subject: "This session has",
				limit: perSession,
				spent,
			});
		}
		if (perDay > 0) {
			const today = startOfDay(Date.now());
			// The index reads this session from its file, unless it has none.
			const unsaved = log.path === null ? own.filter(({ at }) => at >= today) : [];
			const spent = costOf([...unsaved, ...(await this.#savedSince(today, log))]);
			accounts.push({
				key: String(today),
				setting: "budget.perDay",
				subject: "Today's sessions have",
				limit: perDay,
				spent,
			});
		}
		return accounts;
	}

	/** The saved requests since a time. */
	async #savedSince(since: number, log: SessionLog): Promise<RequestUsage[]> {
		this.#index ??= await openSavedUsage(this.deps.store);
		if (monotonicMs() - this.#refreshedAt > REFRESH_MS) {
			await this.#index.refresh();
			await this.#index.save();
			this.#refreshedAt = monotonicMs();
		} else if (log.path !== null) await this.#index.refreshFile(log.path);
		return [...this.#index.requests(since)].map(({ usage }) => usage);
	}
}

/** The requests of a log, without those that were copied from the session that it was branched from. */
class OwnRequests {
	#log: SessionLog | null = null;
	#next = 0;
	#since = 0;
	#requests: RequestUsage[] = [];

	/** The requests so far. Parses only added entries. */
	async of(log: SessionLog): Promise<readonly RequestUsage[]> {
		if (log !== this.#log) {
			const header = log.entry(0);
			const isBranch = isSessionHeader(header) && header.branchedFrom !== undefined;
			this.#log = log;
			this.#next = 0;
			this.#since = isBranch ? Date.parse(header.timestamp) : 0;
			this.#requests = [];
		}
		for (let parsed = 0; this.#next < log.length; this.#next++) {
			if (log.roleOf(this.#next) !== "assistant" && log.typeOf(this.#next) !== "request_usage") continue;
			const usage = usageOf(log.peek(this.#next));
			if (usage && usage.at >= this.#since) this.#requests.push(usage);
			if (++parsed % PARSED_AT_A_TIME === 0) await nextTick();
		}
		return this.#requests;
	}
}

function costOf(requests: readonly RequestUsage[]): number {
	return roundCost(requests.reduce((total, { cost }) => total + (cost ?? 0), 0));
}
