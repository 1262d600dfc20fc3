// A program for the guard's tests: draws a screen in a real terminal and exits in the way that its argument names.
import { ProcessTerminal, Text } from "@mariozechner/pi-tui";
import { LiveTUI } from "../../src/tui/live-tui.js";
import { closeScreen, guardTerminal, suspend } from "../../src/tui/terminal-guard.js";

const screen = new LiveTUI(new ProcessTerminal());
const release = guardTerminal(screen);
screen.addChild(new Text("ready", 0, 0));
screen.start();

const ends: Record<string, () => void> = {
	exit: () => process.exit(3),
	throw: () => {
		throw new Error("a bug");
	},
	close: () => void closeScreen(screen).then(release),
	suspend: () => void suspend(screen).then(() => process.exit(5)),
	stop: () => {
		for (const _ of "12") process.kill(process.pid, "SIGTSTP");
		let wasOff = false;
		setInterval(() => {
			if (!screen.isRunning) wasOff = true;
			else if (wasOff) process.exit(6);
		}, 5);
	},
	wait: () => {},
	// The process outlives the terminal's answer, after which pi-tui turns on reports of keys.
	soon: () =>
		void closeScreen(screen)
			.then(release)
			.then(() => setTimeout(() => {}, 300)),
};
const end = process.argv[2] ?? "";
if (end === "soon") ends[end]?.();
screen.addInputListener(() => {
	ends[end]?.();
	return { consume: true };
});
