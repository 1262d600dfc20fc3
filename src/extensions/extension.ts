import { inspectable } from "../errors.js";
import type { HookAPI, HookEventContext } from "../hooks/types.js";
import { Calls } from "./calls.js";
import { contentImages, contentText, readContent } from "./content.js";
import { readCustomMessage } from "./custom-messages.js";
import { ExtensionEditor } from "./extension-editor.js";
import { adaptProvider } from "./extension-provider.js";
import { createExtensionTheme } from "./extension-theme.js";
import { FooterData } from "./footer-data.js";
import { Handlers } from "./handlers.js";
import { KnownModels, type ProviderRegistration } from "./model-view.js";
import { NO_EXPANSION, OBJECT_PROVIDER, Refusals } from "./refusals.js";
import { CUSTOM_MESSAGE } from "./viewed-entries.js";

/** An extension as a hook of pi. It uses only the API of hooks. */
export class Extension {
	readonly calls = new Calls();
	readonly refusals: Refusals;
	readonly handlers: Handlers;
	readonly models = new KnownModels();
	readonly footer = new FooterData(() => new Set(this.models.available.map(({ provider }) => provider)).size);
	readonly theme = createExtensionTheme(() => this.calls.for("theme").ui.theme);
	readonly editor = new ExtensionEditor((action) => this.calls.draw(action));
	readonly look = { isExpanded: false };
	readonly providers: ProviderRegistration;
	/** The entries whose messages were emitted, the session that has them, and whether the next reply has started. */
	readonly seen: { session: object | null; entries: number; isReplyStarted: boolean } = {
		...{ session: null, entries: 0, isReplyStarted: false },
	};
	/** The id of the last entry when a branch was about to begin; null: the session had none. */
	leafBefore: string | null = null;
	/** Called when a message waits for the next run. */
	onWaiting: () => void = () => {};
	/** Messages that wait for the next run. */
	readonly #waiting: ReturnType<typeof readCustomMessage>[] = [];
	readonly #reported = new Set<string>();

	/**
	 * @param name of the hook, which is that of its file
	 * @param contextFor makes the second argument of handlers
	 */
	constructor(
		readonly pi: HookAPI,
		readonly name: string,
		contextFor: (extension: Extension, ctx: HookEventContext) => object,
	) {
		this.refusals = new Refusals((sentence) => this.#showRefusal(sentence));
		this.handlers = new Handlers({
			calls: this.calls,
			contextFor: (ctx) => contextFor(this, ctx),
			report: (event, error) => this.report(event, error),
		});
		this.providers = {
			registerProvider: (provider, config) => this.#registerProvider(provider, config),
			unregisterProvider: (provider) => this.pi.provider(provider, undefined),
		};
	}

	/** The context object to use now: that of the running call, or of the session if it has changed. */
	current(ctx: HookEventContext): HookEventContext {
		return this.calls.current ?? ctx;
	}

	/** Shows an error to the user as one of this extension. */
	report(event: string, error: unknown): void {
		const name = `${event} of ${this.name}`;
		if (!this.#reported.has(name)) {
			this.#reported.add(name);
			// A handler of an event between hooks that throws: pi reports it like any error of a hook, in every mode.
			this.pi.events.on(name, (thrown) => {
				throw inspectable(thrown);
			});
		}
		this.pi.events.emit(name, error);
	}

	/** The rest of the extension works, so the screen shows a warning; other modes have only errors. */
	#showRefusal(sentence: string): void {
		const { current } = this.calls;
		if (current?.mode === "interactive" || current?.mode === "plain") {
			current.ui.notify(`${this.name}: ${sentence}`, "warning");
		} else this.report("use", new Error(sentence));
	}

	/** Ends pi. Print and JSON mode end it themselves. */
	shutdown(ctx: HookEventContext): void {
		if (ctx.mode === "print" || ctx.mode === "json" || ctx.quit()) return;
		this.refusals.refuse("ctx.shutdown", "the program that runs this session ends it");
	}

	/** `sendUserMessage`: a prompt, as if typed. */
	readonly sendUserMessage = async (
		value: unknown,
		{ deliverAs, expandPromptTemplates }: { deliverAs?: string; expandPromptTemplates?: boolean } = {},
	): Promise<void> => {
		if (expandPromptTemplates === true)
			this.refusals.refuse("expandPromptTemplates of pi.sendUserMessage", NO_EXPANSION);
		const content = readContent(value);
		const delivery = deliverAs === "followUp" ? deliverAs : "steer";
		this.pi.send(contentText(content), contentImages(content), { delivery });
	};

	/** `sendMessage`: an entry that the model sees as a message of the user. */
	readonly sendMessage = async (
		value: unknown,
		{ triggerTurn = false, deliverAs }: { triggerTurn?: boolean; deliverAs?: string } = {},
	): Promise<void> => {
		const message = readCustomMessage(value);
		const ctx = this.calls.for("pi.sendMessage");
		const followsRun = deliverAs === "followUp" && !ctx.isIdle;
		if (deliverAs === "nextTurn" || followsRun) {
			this.#waiting.push(message);
			this.onWaiting();
			// The run that this starts after the current one saves the message.
			if (followsRun) this.pi.send(null);
			return;
		}
		const startsRun = triggerTurn && ctx.isIdle;
		await this.saveMessages(ctx, [message]);
		// A prompt that came meanwhile has started a run.
		if (startsRun && ctx.isIdle) this.pi.send(null);
	};

	/** Saves the messages that wait for this run, and further ones. */
	async saveWaiting(ctx: HookEventContext, more: readonly unknown[]): Promise<void> {
		const messages = [...this.#waiting.splice(0), ...more.map(readCustomMessage)];
		if (messages.length > 0) await this.saveMessages(ctx, messages);
	}

	async saveMessages(ctx: HookEventContext, messages: readonly ReturnType<typeof readCustomMessage>[]): Promise<void> {
		await ctx.saveEntries(messages.map((message) => ({ type: CUSTOM_MESSAGE, ...message, extension: this.name })));
	}

	#registerProvider(name: unknown, config: unknown): void {
		if (typeof name !== "string") {
			this.refusals.refuse("registerProvider with a provider object", OBJECT_PROVIDER);
			return;
		}
		this.pi.provider(name, adaptProvider(name, config, this.refusals));
	}
}
