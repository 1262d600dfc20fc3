import { basename } from "node:path";
import type { Component } from "@mariozechner/pi-tui";
import { isPartOfPi } from "../../hooks/hook-scope.js";
import { spread } from "../../tui/line.js";
import { plural } from "../format.js";
import { cleanLine, styled, wrapLines } from "./clean-text.js";
import { shownPlace } from "./footer.js";
import { View, type ViewStyle } from "./views/view.js";

/** Resources that a session loaded. */
export interface LoadedResources {
	hooks: readonly { path: string; scope: string }[];
	skills: readonly string[];
	templates: readonly string[];
	contextFiles: readonly string[];
	warnings: readonly string[];
}

/** Columns of the machine and directory in which tools work. */
const MAX_PLACE = 40;
const HINTS = ["/ commands", "@ files", "! shell"];

/** First line of the screen: loaded resources and basic keys, then one line per warning. */
export class Header extends View {
	#loaded: LoadedResources | null = null;
	/** A component of a hook that replaces the first line. */
	#replacement: Component | null = null;

	/** @param quiet shows only warnings */
	constructor(
		style: ViewStyle,
		private readonly version: string,
		private readonly quiet: boolean,
	) {
		super(style);
	}

	/** False until the session has loaded its resources. */
	override get done(): boolean {
		return this.#loaded !== null;
	}

	set loaded(loaded: LoadedResources) {
		this.#loaded = loaded;
		this.changed();
	}

	set replacement(component: Component | null) {
		this.#replacement = component;
		this.changed();
	}

	override invalidate(): void {
		super.invalidate();
		this.#replacement?.invalidate();
	}

	protected override draw(width: number): string[] {
		const { theme, keymap } = this.style;
		const warnings = (this.#loaded?.warnings ?? []).flatMap((text) => this.#warning(text, width));
		if (this.#replacement) return [...this.#replacement.render(width), ...warnings];
		if (this.quiet) return warnings;
		const { remote } = this.style;
		// Before it is connected, nothing is known about it.
		const place = remote ? [theme.warning(shownPlace(this.style, MAX_PLACE))] : [];
		const facts = [`${theme.bold("pi")} ${this.version}`, ...place, ...this.#facts().map((fact) => theme.dim(fact))];
		const help = keymap.keyOf("app.help");
		const hints = [...HINTS, ...(help ? [`${help} help`] : [])].join("  ");
		return [spread(facts.join(theme.dim(" · ")), theme.dim(hints), width), ...warnings];
	}

	/** Warnings are in no transcript, so they are wrapped, not cut. */
	#warning(text: string, width: number): string[] {
		const { theme, home } = this.style;
		const line = `! ${cleanLine(home.length > 1 ? text.replaceAll(`${home}/`, "~/") : text, 2000)}`;
		return styled(wrapLines([line], width), theme.warning);
	}

	#facts(): string[] {
		if (!this.#loaded) return [];
		const { hooks, skills, templates, contextFiles } = this.#loaded;
		const own = hooks.filter((hook) => !isPartOfPi(hook));
		const counts = [
			own.length > 0 ? plural(own.length, "hook") : "",
			skills.length > 0 ? plural(skills.length, "skill") : "",
			templates.length > 0 ? plural(templates.length, "prompt") : "",
		];
		const names = contextFiles.map((path) => cleanLine(basename(path), 40));
		const files = names.length > 2 ? [`${names.length} context files`] : [...new Set(names)];
		return [...counts, ...files].filter(Boolean);
	}
}
