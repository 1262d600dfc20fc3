import type { CommandThemes } from "../../commands/command.js";
import type { SettingsStore } from "../../config/settings-store.js";
import { type FoundTheme, listThemeFiles, loadThemeFile, type ThemeDirs } from "../../config/theme-files.js";
import { describeError, PiError } from "../../errors.js";
import { type Background, BUILT_IN_THEMES, builtInStyles, isBuiltIn } from "../../themes/built-in.js";
import type { ColorLevel } from "../../themes/color.js";
import { type ThemeFile, themeStyles } from "../../themes/theme-file.js";
import { createTheme, type LiveTheme, type Theme, type ThemeSource } from "../../tui/theme.js";
import { didYouMean } from "../../util/nearest.js";
import { watchFile } from "../../util/watch-file.js";

/** What the colours of a screen come from. */
export interface ThemeOptions {
	level: ColorLevel;
	/** What the environment says of the terminal; null when nothing. */
	background?: Background | null;
	/** Whether the terminal may be asked for its background. */
	asks?: boolean;
	/** Themes of the user and of the project. Absent: only pi's own. */
	dirs?: ThemeDirs;
}

/** What a change of theme asks of the screen. */
export interface ThemedScreen {
	tui: { redrawScreen(): void };
	reports: { watch(onBackground: (background: Background) => void): void };
}

/** The choice that is no theme of its own. */
const AUTO = "auto";

/** The theme in use: chosen by name, taken from the terminal, read from a file that may change. */
export class ThemeController implements Omit<CommandThemes, "choose"> {
	/** The theme that components keep: its styles change when another is used. */
	readonly theme: LiveTheme;
	#name: string = AUTO;
	#background: Background;
	#file: { found: FoundTheme; theme: ThemeFile } | null = null;
	#screen: ThemedScreen | null = null;
	#watched: { path: string; close(): void } | null = null;
	#isAsked = false;
	/** What is wrong, until there is a screen to say it on. */
	readonly #early: string[] = [];

	/**
	 * @param settings hold the choice; without a theme in them: light or dark, as the terminal is
	 * @param say hears what is wrong with the theme's file
	 */
	constructor(
		private readonly options: ThemeOptions,
		private readonly settings: Pick<SettingsStore, "current" | "set" | "state">,
		private readonly say: (problem: string) => void,
	) {
		this.#background = options.background ?? "dark";
		this.theme = createTheme(this.#source(), options.level);
		try {
			this.show(settings.current.theme ?? AUTO);
		} catch (error) {
			this.#say(`theme: ${describeError(error)}`);
		}
	}

	/** The screen is there: changes are drawn from now on, and what is wrong with the user's choice is told. */
	begin(screen: ThemedScreen): void {
		this.#screen = screen;
		for (const problem of this.#early.splice(0)) this.say(problem);
		this.#watch();
		this.#ask(screen);
	}

	/** What `use` and `show` take. */
	get current(): string {
		return this.#name;
	}

	/** One of pi's own themes while a project's is in use: what a project wants must not colour a question about it. */
	get trusted(): Theme {
		if (this.#file?.found.scope !== "project") return this.theme;
		return createTheme(
			{ name: this.#background, styles: builtInStyles(this.#background, this.#background) },
			this.options.level,
		);
	}

	list(): { name: string; description: string }[] {
		const own = Object.entries(BUILT_IN_THEMES).map(([name, description]) => ({ name, description }));
		const others = this.#files();
		return [
			{ name: AUTO, description: "light or dark, as the terminal is" },
			...own,
			...others.map(({ name, scope, path }) => {
				const title = loadThemeFile(path).theme?.title;
				const whose = scope === "user" ? "yours" : "of this project";
				return { name, description: title === undefined ? whose : `${title} · ${whose}` };
			}),
		];
	}

	/** Draws in a theme without keeping the choice. @throws PiError `bad_arguments` when there is none of this name */
	show(name: string): void {
		this.#file = name === AUTO || isBuiltIn(name) ? null : this.#read(this.#find(name));
		this.#name = name;
		this.#watch();
		this.#apply();
	}

	async use(name: string): Promise<string> {
		this.show(name);
		await this.settings.set("theme", name === AUTO ? undefined : name);
		if (this.options.level === 0) return `Theme: ${name} · without effect here: this terminal shows no colours`;
		const { value, source } = this.settings.state("theme");
		const differs = source === "project" && value !== name;
		return `Theme: ${name}${differs ? ` · the project's settings ask for ${value} at the next start` : ""}`;
	}

	/** Shows the theme of the settings. One that does not exist is reported. */
	followSettings(): void {
		const { theme = AUTO } = this.settings.current;
		try {
			if (theme !== this.#name) this.show(theme);
		} catch (error) {
			this.#say(describeError(error));
		}
	}

	/** Lets go of the file. */
	stop(): void {
		this.#screen = null;
		this.#watched?.close();
		this.#watched = null;
	}

	#find(name: string): FoundTheme {
		const found = this.#files().find((theme) => theme.name === name);
		if (found) return found;
		const names = this.list().map((theme) => theme.name);
		throw new PiError("bad_arguments", `There is no theme ${JSON.stringify(name)}`, {
			hint: didYouMean(name, names) ?? "/theme shows all",
		});
	}

	#files(): FoundTheme[] {
		return this.options.dirs ? listThemeFiles(this.options.dirs) : [];
	}

	#read(found: FoundTheme): { found: FoundTheme; theme: ThemeFile } {
		const { theme, problems } = loadThemeFile(found.path);
		for (const problem of problems) this.#say(problem);
		return { found, theme: theme ?? { colors: {} } };
	}

	#watch(): void {
		const path = this.#file?.found.path;
		if (this.#watched?.path === path) return;
		this.#watched?.close();
		this.#watched = null;
		if (path === undefined || !this.#screen) return;
		this.#watched = { path, close: watchFile(path, () => this.#reload(path)) };
	}

	/** The file was saved. While it cannot be read, the colours stay. */
	#reload(path: string): void {
		const { theme, problems } = loadThemeFile(path);
		for (const problem of problems) this.#say(problem);
		if (!theme || this.#file?.found.path !== path) return;
		this.#file = { ...this.#file, theme };
		this.#apply();
	}

	#apply(): void {
		Object.assign(this.theme, createTheme(this.#source(), this.options.level));
		if (!this.#screen) return;
		this.#ask(this.#screen);
		this.#screen.tui.redrawScreen();
	}

	/** Once, and only for a theme that is another on light than on dark. */
	#ask({ reports }: ThemedScreen): void {
		const { asks = false, level } = this.options;
		const base = this.#file ? this.#file.theme.base : this.#name;
		const depends = base === undefined || base === AUTO || base === "high-contrast";
		if (this.#isAsked || !asks || level === 0 || !depends) return;
		this.#isAsked = true;
		reports.watch((background) => {
			if (background === this.#background) return;
			this.#background = background;
			this.#apply();
		});
	}

	#say(problem: string): void {
		if (this.#screen) this.say(problem);
		else this.#early.push(problem);
	}

	#source(): ThemeSource {
		const background = this.#background;
		if (this.#file) return { name: this.#name, styles: themeStyles(this.#file.theme, background) };
		const name = isBuiltIn(this.#name) ? this.#name : background;
		return { name, styles: builtInStyles(name, background) };
	}
}
