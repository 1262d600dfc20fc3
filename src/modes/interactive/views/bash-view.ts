import type { BashExecutionMessage } from "../../../log/entry.js";
import { commandEnd, commandOutput } from "../../../tools/describe-shell.js";
import { clipLine, spread } from "../../../tui/line.js";
import { cleanLine, hostLabel } from "../clean-text.js";
import { failureMark, tailOf } from "./tools/command-output.js";
import { View, type ViewStyle } from "./view.js";

/** A shell command of the user: `!`, or `!!` if it is not in the context, its output and its exit code. */
export class BashView extends View {
	#output = "";
	/** The same with colors and styles. */
	#styled: string | undefined;
	#message: BashExecutionMessage | null = null;
	#closed = false;

	constructor(
		style: ViewStyle,
		private readonly command: string,
		/** Whether it was typed with `!!`. */
		private readonly excluded: boolean,
		/** The machine of the command. */
		private readonly remote = style.remote,
	) {
		super(style);
	}

	override get done(): boolean {
		return this.#closed || this.#message !== null;
	}

	/** All output so far. @param styled as `BashExecutionMessage.styled` */
	update(output: string, styled?: string): void {
		if (this.done) return;
		this.#output = output;
		this.#styled = styled;
		this.changed();
	}

	finish(message: BashExecutionMessage): void {
		this.#message = message;
		this.#output = message.output;
		this.#styled = message.styled;
		this.changed();
	}

	/** Marks a command that ended without an entry as stopped. */
	close(): void {
		this.#closed = true;
		this.changed();
	}

	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const sign = this.excluded ? "!!" : "!";
		const host = this.remote ? theme.dim(hostLabel(this.remote.name, width)) : "";
		const command = `${theme.warning(sign)} ${host}${theme.userText(cleanLine(this.command))}`;
		const head = spread(command, this.#status(), width);
		const rail = theme.dim("│ ");
		const output = commandOutput(this.#output, this.#message !== null && this.#message.exitCode !== 0);
		const file = this.#message?.fullOutputPath;
		const cut = this.#message?.truncated ? { lines: null, file } : null;
		const styled = theme.name === "plain" ? undefined : this.#styled;
		const body = tailOf(output, Math.max(1, width - 2), this.style, cut, styled);
		if (cut && file && !this.style.expanded) body.push(theme.dim(`full output: ${cleanLine(file, 300)}`));
		return [head, ...body.map((line) => clipLine(rail + line, width))];
	}

	#status(): string {
		const { theme } = this.style;
		if (!this.#message) return this.#closed ? theme.dim("stopped") : "";
		const { cancelled, exitCode, job } = this.#message;
		const end = commandEnd({ exitCode, job, moved: true, ...(cancelled && { endedBy: "abort" }) });
		return cancelled || job !== undefined || exitCode === 0 ? theme.dim(end) : failureMark(end, theme);
	}
}
