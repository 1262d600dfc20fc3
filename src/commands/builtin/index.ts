import type { SlashCommand } from "../command.js";
import { autocompactCommand } from "./autocompact.js";
import { branchCommand } from "./branch.js";
import { changelogCommand } from "./changelog.js";
import { compactCommand } from "./compact.js";
import { contextCommand } from "./context.js";
import { copyCommand } from "./copy.js";
import { debugCommand } from "./debug.js";
import { diffCommand } from "./diff.js";
import { exportCommand } from "./export.js";
import { helpCommand } from "./help.js";
import { hooksCommand } from "./hooks.js";
import { hotkeysCommand } from "./hotkeys.js";
import { initCommand } from "./init.js";
import { jobsCommand } from "./jobs.js";
import { loginCommand } from "./login.js";
import { logoutCommand } from "./logout.js";
import { mcpCommand } from "./mcp.js";
import { modelCommand } from "./model.js";
import { nameCommand } from "./name.js";
import { newCommand } from "./new.js";
import { quitCommand } from "./quit.js";
import { reloadCommand } from "./reload.js";
import { resumeCommand } from "./resume.js";
import { sessionCommand } from "./session.js";
import { settingsCommand } from "./settings.js";
import { setupCommand } from "./setup.js";
import { themeCommand } from "./theme.js";
import { thinkingCommand } from "./thinking.js";
import { toolsCommand } from "./tools.js";
import { trustCommand } from "./trust.js";
import { uncompactCommand } from "./uncompact.js";
import { undoCommand } from "./undo.js";
import { usageCommand } from "./usage.js";
import { worktreesCommand } from "./worktrees.js";

/** Every built-in command, in the order of the palette. */
export const BUILTIN_COMMANDS: readonly SlashCommand[] = [
	modelCommand,
	thinkingCommand,
	newCommand,
	resumeCommand,
	branchCommand,
	undoCommand,
	diffCommand,
	nameCommand,
	sessionCommand,
	usageCommand,
	compactCommand,
	uncompactCommand,
	autocompactCommand,
	contextCommand,
	hooksCommand,
	reloadCommand,
	trustCommand,
	toolsCommand,
	jobsCommand,
	worktreesCommand,
	mcpCommand,
	settingsCommand,
	initCommand,
	copyCommand,
	exportCommand,
	setupCommand,
	loginCommand,
	logoutCommand,
	themeCommand,
	hotkeysCommand,
	helpCommand,
	changelogCommand,
	debugCommand,
	quitCommand,
];
