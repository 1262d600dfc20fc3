import type { Component, Focusable } from "@mariozechner/pi-tui";
import type { CommandSessions, SessionScope } from "../../../commands/pickers.js";
import { describeError } from "../../../errors.js";
import type { SearchHit } from "../../../log/search.js";
import type { SessionSummary } from "../../../log/session-summary.js";
import { ApprovalDialog } from "../../../tui/approval-dialog.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { InputDialog } from "../../../tui/input-dialog.js";
import { SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import type { Approval, ApprovalAnswer } from "../../../util/approval.js";
import { plural } from "../../format.js";
import { matchedUnits, SESSION_COLUMNS, sessionRows, titleOf } from "./session-rows.js";

/** Data and callbacks of a `SessionPicker`. */
export interface SessionPickerOptions {
	sessions: CommandSessions;
	home: string;
	/** Ends listing and searching. */
	signal: AbortSignal;
	requestRender(): void;
	/** @param path the session to open; null when canceled */
	onClose(path: string | null): void;
	/** ms since the epoch. */
	now?(): number;
}

/** What the key for other sessions leads to. */
const SCOPES: Readonly<Record<SessionScope, { next: SessionScope; nextLabel: string }>> = {
	here: { next: "all", nextLabel: "all directories" },
	all: { next: "elsewhere", nextLabel: "other programs" },
	elsewhere: { next: "here", nextLabel: "this directory" },
};
/** A screen with fewer columns is narrow. */
const NARROW = 60;
/** Shorter texts occur in nearly every session. */
const MIN_SEARCH = 2;
/** Pause in typing after which a search starts. */
const TYPING_PAUSE_MS = 120;

/**
 * Lists sessions. Typing filters by name and first message at once and searches the full texts in the background.
 * Deletes and renames sessions after asking.
 */
export class SessionPicker implements Component, Focusable {
	focused = false;
	readonly #list: SelectDialog<string>;
	/** Replaces the list while it is open. */
	#question: (Component & Partial<Focusable>) | null = null;
	#scope: SessionScope = "here";
	/** Whether sessions of `pi -p` are listed. */
	#hasPrinted = false;
	#sessions: SessionSummary[] = [];
	/** Paths of the sessions that a pi process had open when they were listed. */
	readonly #open = new Set<string>();
	readonly #hits = new Map<string, SearchHit>();
	#listing = new AbortController();
	#search = new AbortController();
	#pause: NodeJS.Timeout | undefined;
	#width = NARROW;
	#isListing = false;
	#costs: ReadonlyMap<string, number> = new Map();
	#isSearching = false;
	/** What happened last; while it is null, the note says what is still in progress. */
	#message: { text: string; isProblem: boolean } | null = null;
	/** Whether results arrived since the last frame: the list is refreshed once for many of them. */
	#isStale = false;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: SessionPickerOptions,
	) {
		this.#list = new SelectDialog(style, {
			title: "Which session?",
			items: (filter) => this.#rows(filter),
			columns: SESSION_COLUMNS,
			isTall: true,
			verb: "open",
			empty: "no saved sessions",
			positions: matchedUnits,
			details: ({ value }) => this.#whereOpen(value),
			onFilter: (filter) => this.#searchLater(filter),
			actions: [
				{ key: "dialog.scope", label: () => this.#otherScope(), run: () => this.#switchScope() },
				{
					key: "dialog.printed",
					label: () => `${this.#hasPrinted ? "hide" : "show"} pi -p`,
					isOffered: () => this.#sessions.some(({ isPrinted }) => isPrinted),
					run: () => this.#togglePrinted(),
				},
				{ key: "dialog.rename", label: "rename", isOffered: () => this.#isOwn, run: (item) => this.#askName(item) },
				{ key: "dialog.delete", label: "delete", isOffered: () => this.#isOwn, run: (item) => this.#askDelete(item) },
			],
			onSelect: (path) => options.onClose(path),
			onCancel: () => options.onClose(null),
		});
		options.signal.addEventListener("abort", () => this.#stop(), { once: true });
		void this.#load();
	}

	render(width: number): string[] {
		if (width < NARROW !== this.#width < NARROW) this.#isStale = true;
		this.#width = width;
		this.#catchUp();
		const shown = this.#question ?? this.#list;
		if ("focused" in shown) shown.focused = this.focused;
		return shown.render(width);
	}

	handleInput(data: string): void {
		this.#catchUp();
		(this.#question ?? this.#list).handleInput?.(data);
		this.options.requestRender();
	}

	invalidate(): void {
		this.#question?.invalidate();
	}

	#rows(filter: string): readonly SelectItem<string>[] {
		const { sessions, home, now = Date.now } = this.options;
		const options = {
			current: sessions.current,
			open: this.#open,
			home,
			hasDirectories: this.#scope === "all",
			costs: this.#costs,
			isNarrow: this.#width < NARROW,
			now: now(),
		};
		return sessionRows(this.#listed, this.#hits, filter, options);
	}

	/** The sessions that the list can show: those of `pi -p` only on demand. */
	get #listed(): readonly SessionSummary[] {
		return this.#hasPrinted ? this.#sessions : this.#sessions.filter(({ isPrinted }) => !isPrinted);
	}

	#whereOpen(path: string): string {
		if (!this.#open.has(path)) return "";
		return path === this.options.sessions.current
			? "open in this pi"
			: "open in another pi: you can continue in a copy or read it";
	}

	async #load(): Promise<void> {
		this.#listing.abort();
		this.#listing = new AbortController();
		const { signal } = this.#listing;
		this.#sessions = [];
		this.#open.clear();
		this.#isListing = true;
		this.#note(null);
		try {
			for await (const some of this.options.sessions.list(this.#scope, signal)) {
				if (signal.aborted) return;
				for (const { path } of some) if (this.options.sessions.isOpen(path)) this.#open.add(path);
				this.#sessions = [...this.#sessions, ...some].sort((a, b) => b.modifiedAt - a.modifiedAt);
				this.#refresh();
			}
		} catch (error) {
			if (!signal.aborted) this.#fail(error);
		}
		if (signal.aborted) return;
		this.#isListing = false;
		this.#showNote();
		await this.#readCosts();
	}

	/** Shows what the sessions cost, which may take a while to find out the first time. */
	async #readCosts(): Promise<void> {
		const { sessions, signal } = this.options;
		if (this.#costs.size > 0) return;
		// Costs are left out if they cannot be read: `pi usage` says why.
		this.#costs = await sessions.costs(signal).catch(() => this.#costs);
		if (!signal.aborted) this.#refresh();
	}

	/** Whether the sessions are pi's, so that it may change them. */
	get #isOwn(): boolean {
		return this.#scope !== "elsewhere";
	}

	#otherScope(): string {
		return SCOPES[this.#scope].nextLabel;
	}

	#switchScope(): void {
		this.#scope = SCOPES[this.#scope].next;
		void this.#load();
		this.#searchLater(this.#list.filter);
	}

	#togglePrinted(): void {
		this.#hasPrinted = !this.#hasPrinted;
		this.#refresh();
		this.#showNote();
	}

	/** Starts a search after a pause in typing; ends the current one. */
	#searchLater(filter: string): void {
		this.#search.abort();
		clearTimeout(this.#pause);
		this.#hits.clear();
		const text = filter.trim();
		this.#isSearching = false;
		this.#note(null);
		if (text.length < MIN_SEARCH) return;
		this.#search = new AbortController();
		const { signal } = this.#search;
		this.#pause = setTimeout(() => void this.#searchText(text, signal), TYPING_PAUSE_MS);
	}

	async #searchText(text: string, signal: AbortSignal): Promise<void> {
		this.#isSearching = true;
		this.#showNote();
		try {
			for await (const hit of this.options.sessions.search(text, this.#scope, signal)) {
				if (signal.aborted) return;
				this.#hits.set(hit.path, hit);
				this.#refresh();
			}
		} catch (error) {
			if (!signal.aborted) this.#fail(error);
		}
		if (signal.aborted) return;
		this.#isSearching = false;
		this.#showNote();
	}

	#askDelete(item: SelectItem<string> | undefined): void {
		const session = this.#sessions.find(({ path }) => path === item?.value);
		if (!session) return;
		const trash = () => void this.#trash(session);
		// It refuses the open session, about which there is nothing to ask.
		if (session.path === this.options.sessions.current) trash();
		else this.#confirm("Move this session to the trash?", `${titleOf(session)}\n${session.path}`, trash);
	}

	async #trash(session: SessionSummary): Promise<void> {
		const { path } = session;
		this.#note("moving to the trash …");
		try {
			const refusal = await this.options.sessions.trash(path);
			if (this.options.signal.aborted) return;
			if (refusal === null) return this.#drop(path, "moved to the trash:");
			this.#note(null);
			const message = `It cannot go to the trash: ${refusal}\n${titleOf(session)}\n${path}`;
			this.#confirm("Delete this session for good?", message, () => this.#delete(path));
		} catch (error) {
			this.#fail(error);
		}
	}

	#delete(path: string): void {
		try {
			this.options.sessions.remove(path);
			this.#drop(path, "deleted");
		} catch (error) {
			this.#fail(error);
		}
	}

	#confirm(title: string, text: string, onYes: () => void): void {
		const { requestRender } = this.options;
		const approval: Approval = { question: title, subject: { kind: "text", text }, yes: "Yes" };
		const answer = ({ allowed }: ApprovalAnswer) => {
			this.#question = null;
			if (allowed && !this.options.signal.aborted) onYes();
		};
		this.#question = new ApprovalDialog(this.style, approval, answer, { requestRender });
		requestRender();
	}

	/** Removes a session from the list. */
	#drop(path: string, verb: string): void {
		this.#sessions = this.#sessions.filter((session) => session.path !== path);
		this.#refresh();
		this.#note(`${verb} ${path}`);
	}

	#askName(item: SelectItem<string> | undefined): void {
		const session = this.#sessions.find(({ path }) => path === item?.value);
		if (!session) return;
		const question = { title: "Name of this session", value: session.name ?? "", placeholder: session.firstMessage };
		this.#question = new InputDialog(this.style, question, (answer) => {
			this.#question = null;
			const name = answer?.trim();
			if (name) void this.#rename(session, name);
		});
	}

	async #rename(session: SessionSummary, name: string): Promise<void> {
		try {
			await this.options.sessions.rename(session.path, name);
			this.#sessions = this.#sessions.map((other) => (other.path === session.path ? { ...other, name } : other));
			this.#refresh();
		} catch (error) {
			this.#fail(error);
		}
	}

	#note(text: string | null): void {
		this.#message = text === null ? null : { text, isProblem: false };
		this.#showNote();
	}

	#fail(error: unknown): void {
		this.#message = { text: describeError(error), isProblem: true };
		this.#showNote();
	}

	#showNote(): void {
		const going = this.#isListing ? "loading …" : this.#isSearching ? "searching all messages …" : this.#hidden();
		this.#list.note = this.#message ?? (going === null ? null : { text: going, isProblem: false });
		this.options.requestRender();
	}

	/** Says that the empty list is not empty. */
	#hidden(): string | null {
		const hidden = this.#sessions.length;
		return hidden > 0 && this.#listed.length === 0 ? `${plural(hidden, "session")} of pi -p not shown` : null;
	}

	#refresh(): void {
		this.#isStale = true;
		this.options.requestRender();
	}

	#catchUp(): void {
		if (this.#isStale) this.#list.refresh();
		this.#isStale = false;
	}

	#stop(): void {
		this.#listing.abort();
		this.#search.abort();
		clearTimeout(this.#pause);
	}
}
