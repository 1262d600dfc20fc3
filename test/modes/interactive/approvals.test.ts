import { type Component, Container, isFocusable } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DialogController } from "../../../src/modes/interactive/dialog-controller.js";
import { ALONE_MS, ENTER_MS, SHOWN_MS } from "../../../src/tui/answer-guard.js";
import { createKeymap } from "../../../src/tui/keymap.js";
import { Mouse } from "../../../src/tui/mouse.js";
import { OverlayStack } from "../../../src/tui/overlay-stack.js";
import { createTheme } from "../../../src/tui/theme.js";
import type { Approval, ApprovalAnswer } from "../../../src/util/approval.js";
import { PAUSE_MS } from "../../../src/util/clock.js";
import { FakeTiming } from "../../helpers/fake-timing.js";

const ENTER = "\r";
const DOWN = "\x1b[B";
/** Keys that select another answer. */
const SELECTING: ReadonlySet<string> = new Set(["\x1b[A", DOWN, "\x1b[C", "\x1b[D", "\t"]);
const KEYS = [ENTER, ENTER, "\x1b[A", DOWN, DOWN, "\x1b[5~", "\x1b[6~", "\x1b[F", "\x1b[H", "\t", "\x1b[C", "\x1b[D"];
const KEYS_OF_TEXT = ["y", "Y", "n", "o", "v", "1", "2", "y", "yes", " ", "q", "\x1b[121u", "\x7f", "\x15"];
const PAUSES = [0, 0, 1, 20, 29, 31, 80, 150, 249, 251, 299, 301, 400, 699, 701, 1500];

/** What happens, in order. */
type Step =
	| { do: "press"; data: string }
	| { do: "wait"; ms: number }
	/** Press and release of the mouse on a line of the dialog. */
	| { do: "click"; line: number; release: number; ms: number }
	| { do: "open"; id: number; lines: number }
	| { do: "close"; id: number }
	| { do: "cover" }
	| { do: "uncover" }
	| { do: "resize"; columns: number; rows: number };

const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 8, arbitrary: fc.constantFrom(...KEYS, ...KEYS_OF_TEXT).map((data) => ({ do: "press", data }) as const) },
	{ weight: 8, arbitrary: fc.constantFrom(...PAUSES).map((ms) => ({ do: "wait", ms }) as const) },
	{ weight: 1, arbitrary: fc.constant({ do: "press", data: "\x1b" } as const) },
	{
		weight: 3,
		arbitrary: fc
			.tuple(fc.nat({ max: 9 }), fc.constantFrom(0, 0, 0, 1), fc.constantFrom(0, 0, 50, 400))
			.map(([line, moved, ms]) => ({ do: "click", line, release: line + moved, ms }) as const),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom("\x1b[<64;1;1M", "\x1b[<65;1;1M").map((data) => ({ do: "press", data }) as const),
	},
	{
		weight: 1,
		arbitrary: fc
			.string({ maxLength: 8 })
			.map((text) => ({ do: "press", data: `\x1b[200~${text}\ry\r\x1b[201~` }) as const),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant("open" as const),
			id: fc.nat({ max: 5 }),
			lines: fc.constantFrom(1, 1, 3, 40),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const), id: fc.nat({ max: 5 }) }) },
	{ weight: 1, arbitrary: fc.constantFrom({ do: "cover" } as const, { do: "uncover" } as const) },
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant("resize" as const),
			columns: fc.constantFrom(10, 40, 80),
			rows: fc.constantFrom(4, 10, 24),
		}),
	},
);
/** A sentence as keys that are typed at some speed, in one chunk, or in two. */
const sentence: fc.Arbitrary<Step[]> = fc
	.tuple(
		fc.constantFrom("yes please", "y", "over and out", "v", "1 more", "no y\ry\r", "ok\ry", "y\r", "\ry"),
		fc.constantFrom(0, 10, 60, 200, 260),
	)
	.map(([text, ms]) =>
		[...text].flatMap((data): Step[] => [
			{ do: "press", data },
			{ do: "wait", ms },
		]),
	);
/** Several things that only together come near to an answer. */
const attempt: fc.Arbitrary<Step[]> = fc
	.record({
		covered: fc.boolean(),
		before: fc.constantFrom(0, 100, 1000),
		downs: fc.nat({ max: 4 }),
		digit: fc.constantFrom("", "", "2"),
		between: fc.constantFrom(0, 5, 100, 400),
		text: fc.constantFrom("", "", "a", "y"),
		after: fc.constantFrom(0, 5, 50, 400),
		last: fc.constantFrom(ENTER, "y", "o", "1", "click"),
		line: fc.integer({ min: 2, max: 6 }),
	})
	.map(({ covered, before, downs, digit, between, text, after, last, line }): Step[] => {
		const press = (data: string): Step[] => (data === "" ? [] : [{ do: "press", data }]);
		const wait = (ms: number): Step => ({ do: "wait", ms });
		const cover: Step[] = [{ do: "cover" }, wait(1000), { do: "uncover" }];
		return [
			...[wait(before), ...Array<Step>(downs).fill({ do: "press", data: DOWN })],
			...(digit === "" ? [] : [wait(1000), ...press(digit), wait(300)]),
			...[wait(between), ...press(text), ...(covered ? cover : []), wait(after)],
			...(last === "click" ? [{ do: "click", line, release: line, ms: 0 } as const] : press(last)),
			wait(300),
		];
	});
/** A walk through the history of the editor, which a question may interrupt, and Enter. */
const walk: fc.Arbitrary<Step[]> = fc
	.tuple(fc.constantFrom(0, 100, 499, 501), fc.constantFrom(0, 301, 400, 699, 701), fc.integer({ min: 1, max: 4 }))
	.map(([before, ms, downs]) => [
		{ do: "wait", ms: before },
		...Array.from({ length: downs }, (): Step[] => [
			{ do: "press", data: DOWN },
			{ do: "wait", ms },
		]).flat(),
		{ do: "press", data: ENTER },
		{ do: "wait", ms: 300 },
	]);
const steps = fc
	.array(
		fc.oneof(
			{ weight: 6, arbitrary: step.map((one) => [one]) },
			{ weight: 1, arbitrary: sentence },
			{ weight: 1, arbitrary: walk },
			{ weight: 2, arbitrary: attempt },
		),
		{
			maxLength: 60,
		},
	)
	.map((all) => all.flat());

/** A question about a call, or for every third id one about code, with the key for this run only. */
function approvalOf(id: number, lines: number): Approval {
	const text = Array.from({ length: lines }, (_, at) => `command ${id}.${at}`).join("\n");
	const question = `Run ${id}?`;
	if (id % 3 === 2)
		return { question, subject: { kind: "text", text }, choices: [{ label: "This run only", key: "once" }] };
	return {
		question,
		subject: { kind: "command", text },
		choices: [{ label: "Yes, for this session" }, { label: "Yes, always", rule: `rule ${id}` }],
		takesMessage: id % 2 === 0,
	};
}

/** A row that was seen, and since when without a break. */
interface Sight {
	since: number;
	selected: string;
	rows: Map<string, number>;
	selectedSince: number;
	/** What each line shows, and since when. */
	lines: readonly { row: string; since: number }[];
}

/** The screen with real dialogs, of which an observer sees only frames and keys. */
class Stage {
	readonly timing = new FakeTiming();
	readonly problems: string[] = [];
	readonly allowed: string[] = [];
	readonly #slot = new Container();
	readonly #closers = new Map<number, AbortController>();
	readonly #keys: { at: number; data: string }[] = [];
	readonly overlays: OverlayStack;
	readonly #mouse = new Mouse(
		{
			write: () => {},
			type: (data) => this.#input(data, `click ${this.#pointer}`),
			askCursor: () => {},
			openLink: () => {},
			columns: () => this.#columns,
		},
		() => this.timing.now(),
	);
	readonly #dialogs: DialogController;
	/** The line under the mouse, and when its button went down. */
	#pointer = 0;
	#pressedAt = 0;
	#columns = 80;
	#rows = 24;
	#focus: Component | null = null;
	#uncover: (() => void) | null = null;
	#draft: string;
	#sight: Sight | null = null;
	#sightOf = "";
	readonly #questions = new Map<Component, string>();

	constructor(draft: string) {
		this.#draft = draft;
		const editor = {
			render: () => [],
			invalidate: () => {},
			handleInput: (data: string) => this.#write(data),
		};
		this.overlays = new OverlayStack(
			{
				setFocus: (component) => {
					if (this.#focus && isFocusable(this.#focus)) this.#focus.focused = false;
					this.#focus = component;
					this.#mouse.follow(component !== editor);
					if (component && isFocusable(component)) component.focused = true;
				},
				requestRender: () => this.draw(),
				showFullScreen: () => {},
				fillScreen: () => {},
			},
			this.#slot,
			editor,
		);
		this.#focus = editor;
		this.#mouse.use(true);
		this.#mouse.start();
		const style = {
			theme: createTheme("plain"),
			keymap: createKeymap(),
			rows: () => this.#rows,
			marksRows: () => true,
		};
		this.#dialogs = new DialogController(this.overlays, style, () => {}, {
			draft: { getText: () => this.#draft, handleInput: (data) => this.#write(data) },
			lastKeyAt: () => this.#keys.at(-1)?.at ?? Number.NEGATIVE_INFINITY,
			timing: this.timing,
		});
	}

	/** Presses the left button on a line and releases it on this or another one. */
	mouse(line: number, isRelease: boolean): void {
		this.#pointer = line;
		if (!isRelease) this.#pressedAt = this.timing.now();
		this.#mouse.handleInput(`\x1b[<0;3;${line + 1}${isRelease ? "m" : "M"}`);
		this.draw();
	}

	#input(data: string, name: string): void {
		this.lastSight = this.#sight && { ...this.#sight, rows: new Map(this.#sight.rows), question: this.#sightOf };
		this.#keys.push({ at: this.timing.now(), data: name });
		this.#focus?.handleInput?.(data);
	}

	#write(data: string): void {
		this.#draft += data;
	}

	open(id: number, lines: number): void {
		const closer = new AbortController();
		this.#closers.set(id, closer);
		void this.#dialogs
			.approve(approvalOf(id, lines), { signal: closer.signal }, id % 3 === 2 ? this.#details : undefined)
			.then((answer) => this.#check(id, answer));
	}

	/** The code in question, which covers it. */
	readonly #details = {
		label: "Show code",
		show: async () => {
			this.codeShown++;
			this.cover();
		},
	};
	codeShown = 0;

	close(id: number): void {
		this.#closers.get(id)?.abort();
		this.draw();
	}

	cover(): void {
		if (this.#uncover || !this.overlays.isOpen) return;
		void this.overlays.open<null>(
			(settle) => {
				this.#uncover = () => settle(null);
				return { render: () => ["another"], invalidate: () => {} };
			},
			{ canceled: null, isOnTop: true },
		);
		this.draw();
	}

	uncover(): void {
		this.#uncover?.();
		this.#uncover = null;
		this.draw();
	}

	resize(columns: number, rows: number): void {
		this.#columns = columns;
		this.#rows = rows;
		this.draw();
	}

	press(data: string): void {
		if (!this.#mouse.handleInput(data)) this.#input(data, data);
		this.draw();
	}

	draw(): void {
		const drawn = this.#slot.render(this.#columns);
		this.#mouse.drew({ lines: drawn, top: 0, cursorLine: null });
		const lines = drawn.map((line) => line.replace(/\x1b[[_][^m\x07]*[m\x07]/g, "").trimEnd());
		const now = this.timing.now();
		// A small screen may show the answers alone, once all of the question has been on it.
		const seen = lines.find((line) => /^ Run \d\?/.test(line));
		if (this.#focus && seen !== undefined) this.#questions.set(this.#focus, seen);
		const question = (this.#focus && this.#questions.get(this.#focus)) ?? "";
		const rows = lines.filter((line) => /^ (?:→| ) (?:[ynov12] {2}|No, and)/.test(line));
		// A row that is wrapped otherwise is the same one.
		const nameOf = (row: string) => row.slice(3, 4);
		const selected = nameOf(rows.find((line) => line.startsWith(" →")) ?? "");
		const editing = question !== "" && rows.length === 0 ? "rule" : selected;
		const before = question === this.#sightOf ? this.#sight : null;
		// A row may be wrapped.
		let row = "";
		this.#sightOf = question;
		this.#sight = {
			since: before?.since ?? now,
			selected: editing,
			selectedSince: before?.selected === editing ? before.selectedSince : now,
			rows: new Map(rows.map((row) => [nameOf(row), before?.rows.get(nameOf(row)) ?? now])),
			lines: lines.map((line, at) => {
				if (rows.includes(line)) row = nameOf(line);
				else if (!line.startsWith("   ")) row = "";
				const known = before?.lines[at];
				return { row, since: known?.row === row ? known.since : now };
			}),
		};
	}

	/** What an observer of the screen and the keyboard must say to an answer that allows. */
	#check(id: number, answer: ApprovalAnswer): void {
		if (!answer.allowed) return;
		this.allowed.push(`${id}`);
		const sight = this.#sightAtKey;
		const keys = this.#keys.filter(({ at }) => at <= this.timing.now());
		const key = keys.at(-1);
		// The mouse is no typing.
		const before = keys.slice(0, -1).findLast(({ data }) => !data.startsWith("click"));
		const problem = (text: string) => this.problems.push(`${id} ${JSON.stringify(answer)}: ${text}`);
		if (!key || !sight) return void problem("no key");
		if (sight.question !== ` Run ${id}?`) return void problem(`another question was on the screen: ${sight.question}`);
		if (key.data === ENTER) {
			const shownSince = sight.selected === "rule" ? sight.selectedSince : (sight.rows.get(sight.selected) ?? key.at);
			if (key.at - shownSince < SHOWN_MS) problem("the selected row was not shown for long enough");
			const other = keys.slice(0, -1).findLast(({ data }) => data !== ENTER);
			const isSelecting = sight.selected !== "rule" && other && SELECTING.has(other.data);
			if (isSelecting && key.at - other.at < ENTER_MS) problem("nobody can have seen what was selected");
			if (before && before.at > key.at - 10 && /^[a-z0-9 ]/i.test(before.data))
				problem("Enter came together with text");
			if (!/^(?:rule|[yo12])$/.test(sight.selected)) problem(`the selected row was ${sight.selected}`);
			// A key that was pressed for the question.
			const isMeant = (at: number, index: number) =>
				at - sight.since >= PAUSE_MS && at - (keys[index - 1]?.at ?? Number.NEGATIVE_INFINITY) >= PAUSE_MS;
			if (sight.selected !== "rule" && !keys.slice(0, -1).some(({ at }, index) => isMeant(at, index)))
				problem("the row was selected by keys that began before the question can have been read");
			return;
		}
		if (key.data.startsWith("click")) {
			const line = sight.lines[Number(key.data.slice("click ".length))];
			if (!line || !/^[yo12]$/.test(line.row)) return void problem(`the line was ${line?.row}`);
			if (this.#pressedAt - line.since < SHOWN_MS) problem("the line was not there for long enough");
			return;
		}
		const row = [...sight.rows].find(([label]) => label.startsWith(key.data.replace("\x1b[121u", "y").toLowerCase()));
		if (!row || key.at - row[1] < SHOWN_MS) problem(`the row of ${key.data} was not shown for long enough`);
		if (before && key.at - before.at < PAUSE_MS) problem("the letter did not follow a pause");
		if (key.at - sight.since < PAUSE_MS) problem("the letter came before the question can have been read");
	}

	get #sightAtKey(): (Sight & { question: string }) | null {
		return this.lastSight;
	}

	lastSight: (Sight & { question: string }) | null = null;
}

/** A question loads its dialog. */
async function settled(): Promise<void> {
	await import("../../../src/tui/approval-dialog.js");
	await new Promise((resolve) => setImmediate(resolve));
}

async function play(all: readonly Step[], draft: string): Promise<Stage> {
	const stage = new Stage(draft);
	for (const one of [...all, { do: "wait", ms: ALONE_MS } as const]) {
		if (one.do === "press") {
			stage.press(one.data);
		} else if (one.do === "click") {
			stage.mouse(one.line, false);
			stage.timing.pass(one.ms);
			stage.mouse(one.release, true);
		} else if (one.do === "wait") stage.timing.pass(one.ms);
		else if (one.do === "open") stage.open(one.id, one.lines);
		else if (one.do === "close") stage.close(one.id);
		else if (one.do === "cover") stage.cover();
		else if (one.do === "uncover") stage.uncover();
		else stage.resize(one.columns, one.rows);
		// Questions open and answers arrive as promises.
		if (one.do === "open") await settled();
		for (let turn = 0; turn < 5; turn++) await Promise.resolve();
	}
	return stage;
}

test("nothing runs that was not chosen, by a key for it, on a row that was on the screen for a while", async () => {
	await fc.assert(
		fc.asyncProperty(steps, fc.constantFrom("", "", "fix the "), async (all, draft) => {
			const first: Step[] = [{ do: "open", id: 0, lines: 1 }];
			const { problems } = await play([...first, ...all], draft);
			expect(problems).toEqual([]);
		}),
		{ numRuns: 500 },
	);
}, 60_000);

test("the observer sees answers that allow", async () => {
	const { allowed, problems, codeShown } = await play(
		[
			{ do: "open", id: 0, lines: 1 },
			{ do: "wait", ms: 1000 },
			{ do: "press", data: "y" },
			{ do: "wait", ms: ALONE_MS },
			{ do: "open", id: 1, lines: 1 },
			{ do: "wait", ms: 1000 },
			{ do: "press", data: DOWN },
			{ do: "wait", ms: 400 },
			{ do: "press", data: ENTER },
			{ do: "wait", ms: 100 },
			{ do: "open", id: 2, lines: 1 },
			{ do: "wait", ms: 1000 },
			{ do: "click", line: 4, release: 4, ms: 50 },
			{ do: "wait", ms: 100 },
			{ do: "open", id: 5, lines: 1 },
			{ do: "wait", ms: 1000 },
			{ do: "press", data: "v" },
			{ do: "wait", ms: 1000 },
			{ do: "uncover" },
			{ do: "wait", ms: 1000 },
			{ do: "press", data: "o" },
			{ do: "wait", ms: ALONE_MS },
		],
		"",
	);
	expect([allowed, problems, codeShown]).toEqual([["0", "1", "2", "5"], [], 1]);
});
