import { Container, Editor, TuiMainScreen } from "@mariozechner/pi-tui";
import { expect, onTestFinished } from "vitest";
import { type Block, BlockList, LiveTUI } from "../../src/tui/live-tui.js";
import { createTheme } from "../../src/tui/theme.js";
import { VirtualTerminal } from "../helpers/virtual-terminal.js";

const theme = createTheme("dark");

/** A block of lines that can grow. It counts the lines that it has rendered. */
export class Lines implements Block {
	done = true;
	settledLines = 0;
	rendered = 0;
	constructor(public text: string[]) {}
	render(width: number): string[] {
		this.rendered += this.text.length;
		return this.text.map((line) => line.slice(0, width));
	}
	invalidate(): void {}
}

export function numbered(from: number, count: number): string[] {
	return Array.from({ length: count }, (_, index) => `line ${from + index} ${"·".repeat((from + index) % 40)}`);
}

/** The same content on pi-tui's TUI and on LiveTUI. */
export function bothScreens(columns = 60, rows = 16) {
	const list = new BlockList();
	const stock = { terminal: new VirtualTerminal(columns, rows), blocks: new Container() };
	const stockTui = new TuiMainScreen(stock.terminal);
	stockTui.addChild(stock.blocks);
	const stockEditor = new Editor(stockTui, theme.editor);
	stockTui.addChild(stockEditor);
	stockTui.setFocus(stockEditor);
	const live = new VirtualTerminal(columns, rows);
	const liveTui = new LiveTUI(live, { blocks: list, resizeDelayMs: 10 });
	const liveEditor = new Editor(liveTui, theme.editor);
	liveTui.addChild(liveEditor);
	liveTui.setFocus(liveEditor);
	stockTui.start();
	liveTui.start();
	onTestFinished(() => {
		stockTui.stop();
		liveTui.stop();
	});
	const add = (block: Block) => {
		stock.blocks.addChild(block);
		list.append(block);
		render();
	};
	const render = () => {
		stockTui.requestRender();
		liveTui.requestRender();
	};
	const send = (...keys: string[]) => {
		for (const key of keys) {
			stock.terminal.send(key);
			live.send(key);
		}
	};
	const same = async () => {
		expect(await live.scrollback()).toEqual(await stock.terminal.scrollback());
		expect(await live.screen()).toEqual(await stock.terminal.screen());
	};
	/** Compares the screens, and the scrollback from a line on: a redraw leaves earlier lines unchanged. */
	const sameFrom = async (line: string) => {
		const from = (lines: string[]) => lines.slice(lines.lastIndexOf(line));
		expect(from(await live.scrollback())).toEqual(from(await stock.terminal.scrollback()));
		expect(await live.screen()).toEqual(await stock.terminal.screen());
	};
	return { stock: stock.terminal, stockTui, live, liveTui, list, add, render, send, same, sameFrom };
}
