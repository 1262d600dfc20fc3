/**
 * `/snake` is a small game for the time in which the agent works: arrow keys steer, space pauses, Escape closes it. It shows
 * how a component with `overlay: true` reads keys and moves on its own.
 *
 * The speed comes from a clock and does not depend on how often pi draws. The game ends when the hook is reloaded, and its
 * high score is kept only until then. It needs a screen of 40 columns: in other modes `/snake` says so.
 */
import type { CustomFactory, EntryTheme, HookAPI, HookComponent } from "@mariozechner/pi-coding-agent/hooks";
import { matchesKey } from "@mariozechner/pi-tui";

interface Point {
	x: number;
	y: number;
}

/** Cells; each is two columns wide, so that it looks square. */
const COLUMNS = 18;
const ROWS = 12;
const STEP_MS = 130;
/** After a pause of the process, such as Ctrl+Z, the snake must not run on for all that time. */
const MAX_STEPS = 2;

const TURNS = {
	up: { x: 0, y: -1 },
	down: { x: 0, y: 1 },
	left: { x: -1, y: 0 },
	right: { x: 1, y: 0 },
} as const satisfies Record<string, Point>;
const ARROWS = ["up", "down", "left", "right"] as const;

export default function snake(pi: HookAPI): void {
	let best = 0;

	pi.command("snake", {
		description: "Play snake while the agent works",
		async handler(ctx) {
			if (ctx.mode !== "interactive") return { status: "/snake needs a screen" };
			const score = await ctx.ui.custom<number>(
				startGame(() => best),
				{ overlay: true },
			);
			if (score === null) return undefined;
			best = Math.max(best, score);
			return { status: `Score ${score} · best ${best}` };
		},
	});
}

/** The component of one visit, which can be several games. Its result is the highest score. */
function startGame(best: () => number): CustomFactory<number> {
	return (tui, theme, keybindings, done): HookComponent => {
		let game = new Game();
		let highest = 0;
		let isPaused = false;
		let last = performance.now();
		const timer = setInterval(() => {
			const steps = Math.floor((performance.now() - last) / STEP_MS);
			if (steps === 0) return;
			last += steps * STEP_MS;
			if (isPaused || game.isOver) return;
			for (let step = 0; step < Math.min(steps, MAX_STEPS); step++) game.step();
			highest = Math.max(highest, game.score);
			tui.requestRender();
		}, STEP_MS / 4);
		return {
			render(width) {
				if (width < 2 * COLUMNS + 2) return ["/snake needs 40 columns".slice(0, width)];
				const state = game.isOver ? "game over · space again" : isPaused ? "paused · space" : "space pauses";
				const title = `${theme.bold("snake")} ${game.score} · best ${Math.max(best(), highest)}`;
				return [title, ...drawBoard(game, theme), theme.dim(`${state} · esc closes`)];
			},
			handleInput(data) {
				const arrow = ARROWS.find((name) => matchesKey(data, name));
				if (keybindings.matches(data, "dialog.cancel")) done(highest);
				else if (arrow && !isPaused) game.turn(TURNS[arrow]);
				else if (matchesKey(data, "space")) {
					if (game.isOver) game = new Game();
					else isPaused = !isPaused;
				}
			},
			invalidate() {},
			dispose: () => clearInterval(timer),
		};
	};
}

class Game {
	/** Head first. */
	body: Point[] = [3, 2, 1].map((x) => ({ x, y: Math.floor(ROWS / 2) }));
	food: Point = { x: Math.floor(COLUMNS / 2), y: Math.floor(ROWS / 2) };
	score = 0;
	isOver = false;
	#direction: Point = TURNS.right;
	/** Turns of the next steps: two quick keys make a U-turn instead of the second one winning. */
	readonly #turns: Point[] = [];

	turn(direction: Point): void {
		const before = this.#turns.at(-1) ?? this.#direction;
		const isSameAxis = (direction.x === 0) === (before.x === 0);
		if (!isSameAxis && this.#turns.length < 2) this.#turns.push(direction);
	}

	step(): void {
		const [head] = this.body;
		if (this.isOver || !head) return;
		this.#direction = this.#turns.shift() ?? this.#direction;
		const next = { x: head.x + this.#direction.x, y: head.y + this.#direction.y };
		const isFood = isAt(next)(this.food);
		// The tail moves away, unless the snake grows.
		const rest = isFood ? this.body : this.body.slice(0, -1);
		const isInside = 0 <= next.x && next.x < COLUMNS && 0 <= next.y && next.y < ROWS;
		if (!isInside || rest.some(isAt(next))) {
			this.isOver = true;
			return;
		}
		this.body = [next, ...rest];
		if (!isFood) return;
		this.score++;
		const free = allCells().filter((cell) => !this.body.some(isAt(cell)));
		const food = free[Math.floor(Math.random() * free.length)];
		if (food) this.food = food;
		else this.isOver = true;
	}
}

function drawBoard(game: Game, theme: EntryTheme): string[] {
	const [head] = game.body;
	const cell = (x: number, y: number): string => {
		const at = isAt({ x, y });
		if (head && at(head)) return theme.bold(theme.accent("██"));
		if (game.body.some(at)) return theme.success("▓▓");
		return at(game.food) ? theme.error("◆ ") : "  ";
	};
	const range = (length: number) => Array.from({ length }, (_, index) => index);
	const rows = range(ROWS).map(
		(y) =>
			`│${range(COLUMNS)
				.map((x) => cell(x, y))
				.join("")}│`,
	);
	return [`╭${"─".repeat(2 * COLUMNS)}╮`, ...rows, `╰${"─".repeat(2 * COLUMNS)}╯`];
}

function isAt(point: Point): (other: Point) => boolean {
	return (other) => other.x === point.x && other.y === point.y;
}

function allCells(): Point[] {
	return Array.from({ length: COLUMNS * ROWS }, (_, index) => ({
		x: index % COLUMNS,
		y: Math.floor(index / COLUMNS),
	}));
}
