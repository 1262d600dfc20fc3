import type { CommandThemes } from "../../commands/command.js";
import type { SettingsStore } from "../../config/settings-store.js";
import { type FoundTheme, listThemeFiles, loadThemeFile, type ThemeDirs } from "../../config/theme-files.js";
import { describeError, PiError } from "../../errors.js";
import { type Background, BUILT_IN_THEMES, builtInStyles, isBuiltIn } from "../../themes/built-in.js";
import type { ColorLevel } from "../../themes/color.js";
import { readableStyles } from "../../themes/contrast.js";
import { type ThemeFile, themeStyles } from "../../themes/theme-file.js";
import { createTheme, type LiveTheme, type Theme, type ThemeSource } from "../../tui/theme.js";
import { didYouMean } from "../../util/nearest.js";
import { watchFile } from "../../util/watch-file.js";

/** Sources of the screen's colors. */
export interface ThemeOptions {
	level: ColorLevel;
	/** Background according to the environment; null when unknown. */
	background?: Background | null;
	/** True when pi may query the terminal for its background. Default: false. */
	queryBackground?: boolean;
	/** Directories of user and project themes. Absent: only built-in themes. */
	dirs?: ThemeDirs;
}

/** The parts of the screen that a theme change needs. */
export interface ThemedScreen {
	tui: { redrawScreen(): void };
	reports: { watch(onBackground: (background: Background) => void): void };
}

/** The setting that follows the terminal's background. */
const AUTO = "auto";

/** The theme in use: selected by name, derived from the terminal, or read from a file that is watched. */
export class ThemeController implements Omit<CommandThemes, "choose"> {
	/** The object that components keep. Its styles change with the theme. */
	readonly theme: LiveTheme;
	#name: string = AUTO;
	#background: Background;
	#file: { found: FoundTheme; theme: ThemeFile } | null = null;
	#screen: ThemedScreen | null = null;
	#watched: { path: string; close(): void } | null = null;
	#isAsked = false;
	#packages: NonNullable<ThemeDirs["packages"]> = [];
	/** The theme that a hook shows instead of that of the settings; null: none. */
	#override: string | null = null;
	/** True while the theme of the settings is unknown. */
	#isMissing = false;
	/** Problems of the file as last read after a change. */
	#problems: readonly string[] = [];
	/** Problems found before a screen exists. */
	readonly #early: string[] = [];

	/**
	 * @param settings store the selected theme; unset: light or dark, matching the terminal
	 * @param report receives problems of theme files
	 */
	constructor(
		private readonly options: ThemeOptions,
		private readonly settings: Pick<SettingsStore, "current" | "set" | "state">,
		private readonly report: (problem: string) => void,
	) {
		this.#background = options.background ?? "dark";
		this.theme = createTheme(this.#source(), options.level);
		try {
			this.show(settings.current.theme ?? AUTO);
		} catch (error) {
			// A package may bring it, and is read later.
			if (settings.current.packages.length === 0) this.#report(`theme: ${describeError(error)}`);
			else this.#isMissing = true;
		}
	}

	/** Connects the screen: redraws it on changes, and reports the problems found so far. */
	begin(screen: ThemedScreen): void {
		this.#screen = screen;
		for (const problem of this.#early.splice(0)) this.report(problem);
		this.#watch();
		this.#ask(screen);
	}

	/** Name of the theme, as `use` and `show` accept it. */
	get current(): string {
		return this.#name;
	}

	/** The current theme, or a built-in one instead of that of a project or package, which must not style questions about itself. */
	get trusted(): Theme {
		if (!this.#file || isOwn(this.#file.found)) return this.theme;
		return createTheme(
			{ name: this.#background, styles: builtInStyles(this.#background, this.#background) },
			this.options.level,
		);
	}

	list(): { name: string; description: string }[] {
		const own = Object.entries(BUILT_IN_THEMES).map(([name, description]) => ({ name, description }));
		const others = this.#files();
		return [
			{ name: AUTO, description: "light or dark, matching the terminal" },
			...own,
			...others.map((file) => {
				const { name, scope } = file;
				const title = loadThemeFile(file).theme?.title;
				const origin = `${scope} theme`;
				return { name, description: title === undefined ? origin : `${title} · ${origin}` };
			}),
		];
	}

	/** Shows a theme without saving it, and reports its problems. @throws PiError `bad_arguments` when no theme has this name */
	show(name: string): void {
		for (const problem of this.preview(name)) this.#report(problem);
	}

	/** Shows a theme without saving it. @returns its problems @throws PiError `bad_arguments` when no theme has this name */
	preview(name: string): readonly string[] {
		const found = name === AUTO || isBuiltIn(name) ? null : this.#find(name);
		const { theme, problems } = found ? loadThemeFile(found) : { theme: null, problems: [] };
		this.#file = found && { found, theme: theme ?? { colors: {} } };
		this.#name = name;
		this.#watch();
		this.#apply();
		return problems;
	}

	/** Shows a theme and saves it. @throws PiError `bad_arguments` when no theme has this name or its file is unusable */
	async use(name: string): Promise<string> {
		this.#check(name);
		this.#override = null;
		this.show(name);
		await this.settings.set("theme", name === AUTO ? undefined : name);
		if (this.options.level === 0) return `Theme: ${name} · no effect here: this terminal shows no colors`;
		const { value, source } = this.settings.state("theme");
		const differs = source === "project" && value !== name;
		return `Theme: ${name}${differs ? ` · the project settings select ${value} at the next start` : ""}`;
	}

	/** Every theme except `auto`, sorted by name. `path`: its file; null for a built-in one. */
	get all(): { name: string; path: string | null }[] {
		const own = Object.keys(BUILT_IN_THEMES).map((name) => ({ name, path: null }));
		return [...own, ...this.#files().map(({ name, path }) => ({ name, path }))].sort((a, b) =>
			a.name < b.name ? -1 : 1,
		);
	}

	/** The styles of a theme that is not shown. @throws PiError `bad_arguments` when no theme has this name */
	named(name: string): Theme {
		const found = isBuiltIn(name) ? null : this.#find(name);
		const file = found && { found, theme: loadThemeFile(found).theme ?? { colors: {} } };
		return createTheme(this.#source(name, file), this.options.level);
	}

	/** Shows the theme of a hook until the user chooses another one; null: that of the settings. */
	override(name: string | null): void {
		this.#override = name;
		this.followSettings();
	}

	/** Shows the theme of the settings or of a hook, or reports that it does not exist. */
	followSettings(): void {
		const theme = this.#override ?? this.settings.current.theme ?? AUTO;
		try {
			if (theme !== this.#name) this.show(theme);
		} catch (error) {
			this.#report(describeError(error));
		}
	}

	/** Adds the themes of packages, and shows the one that the settings select. @param files those of packages that may be used */
	usePackages(files: NonNullable<ThemeDirs["packages"]>): void {
		if (files.length === 0 && this.#packages.length === 0 && !this.#isMissing) return;
		this.#isMissing = false;
		this.#packages = files;
		this.followSettings();
	}

	/** Number of theme files that do not come with pi. */
	get fileCount(): number {
		return this.#files().filter(({ scope }) => scope !== "bundled").length;
	}

	/** Reads the file of the theme again, and selects the theme of the settings. @returns the problems, also reported */
	reread(): readonly string[] {
		const problems = this.#file ? this.#reload(this.#file.found.path) : [];
		this.followSettings();
		return problems;
	}

	stop(): void {
		this.#screen = null;
		this.#watched?.close();
		this.#watched = null;
	}

	#find(name: string): FoundTheme {
		const found = this.#files().find((theme) => theme.name === name);
		if (found) return found;
		const names = this.list().map((theme) => theme.name);
		throw new PiError("bad_arguments", `Theme ${JSON.stringify(name)} not found`, {
			// Names of themes are few: the same start is similar enough.
			hint: didYouMean(name, names) ?? didYouMean(name.slice(0, 2), names) ?? "/theme shows all",
		});
	}

	#check(name: string): void {
		if (name === AUTO || isBuiltIn(name)) return;
		const { theme, problems } = loadThemeFile(this.#find(name));
		if (theme) return;
		// The picker may have shown it.
		this.followSettings();
		throw new PiError("bad_arguments", `Theme ${JSON.stringify(name)} cannot be used: ${problems.join(" · ")}`);
	}

	#files(): FoundTheme[] {
		return this.options.dirs ? listThemeFiles({ ...this.options.dirs, packages: this.#packages }) : [];
	}

	#watch(): void {
		const path = this.#file?.found.path;
		if (this.#watched?.path === path) return;
		this.#watched?.close();
		this.#watched = null;
		if (path === undefined || !this.#screen) return;
		this.#watched = { path, close: watchFile(path, () => this.#reload(path, this.#problems)) };
	}

	/**
	 * Applies a changed theme file. Keeps the current colors while the file cannot be read.
	 * @param known problems that are not reported again
	 * @returns its problems
	 */
	#reload(path: string, known: readonly string[] = []): readonly string[] {
		const { theme, problems } = loadThemeFile(this.#file?.found.path === path ? this.#file.found : { path }, true);
		for (const problem of problems) if (!known.includes(problem)) this.#report(problem);
		this.#problems = problems;
		if (!theme || this.#file?.found.path !== path) return problems;
		this.#file = { ...this.#file, theme };
		this.#apply();
		return problems;
	}

	#apply(): void {
		Object.assign(this.theme, createTheme(this.#source(), this.options.level));
		if (!this.#screen) return;
		this.#ask(this.#screen);
		this.#screen.tui.redrawScreen();
	}

	/** Queries the background, once and only for a theme that depends on it. */
	#ask({ reports }: ThemedScreen): void {
		const { queryBackground = false, level } = this.options;
		const base = this.#file ? this.#file.theme.base : this.#name;
		const depends = base === undefined || base === AUTO || base === "high-contrast";
		if (this.#isAsked || !queryBackground || level === 0 || !depends) return;
		this.#isAsked = true;
		reports.watch((background) => {
			if (background === this.#background) return;
			this.#background = background;
			this.#apply();
		});
	}

	#report(problem: string): void {
		if (this.#screen) this.report(problem);
		else this.#early.push(problem);
	}

	/** @param file of a theme that is not built in */
	#source(name = this.#name, file = this.#file): ThemeSource {
		const background = this.#background;
		if (file) {
			const styles = themeStyles(file.theme, background);
			// A foreign theme must not hide what a question shows.
			const isReadable = isOwn(file.found);
			return { name, styles: isReadable ? styles : readableStyles(styles, background, this.options.level) };
		}
		const builtIn = isBuiltIn(name) ? name : background;
		return { name: builtIn, styles: builtInStyles(builtIn, background) };
	}
}

/** Whether a theme is of the user or of pi. */
function isOwn({ scope }: FoundTheme): boolean {
	return scope === "user" || scope === "bundled";
}
