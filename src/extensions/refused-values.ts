/** Values of the published packages that pi does not have, and why. Others throw too, without a reason of their own. */
const GROUPS: readonly (readonly [reason: string, names: string])[] = [
	[
		"an extension runs in the session of pi; start another pi with pi.exec",
		"AgentSession AgentSessionRuntime InteractiveMode RpcClient createAgentSession createAgentSessionFromServices createAgentSessionRuntime createAgentSessionServices main parseArgs runPrintMode runRpcMode",
	],
	[
		"pi reads and writes the session; use ctx.sessionManager",
		"SessionManager buildContextEntries buildSessionContext buildSessionProjection migrateSessionEntries parseSessionEntries sessionEntryToContextMessages",
	],
	["pi reads the settings and keys", "ModelRegistry ModelRuntime SettingsManager readStoredCredential"],
	[
		"pi loads what a project or a package provides",
		"DefaultPackageManager DefaultResourceLoader loadSkills loadSkillsFromDir",
	],
	["pi has no such tool", "createPowerShellTool createPowerShellToolDefinition createLocalPowerShellOperations"],
	["use pi.exec", "createLocalBashOperations getShellConfig"],
	[
		"pi draws its own screen; use the components of pi-tui",
		"ArminComponent AssistantMessageComponent BashExecutionComponent BranchSummaryMessageComponent CompactionSummaryMessageComponent CustomMessageComponent ExtensionEditorComponent ExtensionInputComponent ExtensionSelectorComponent FooterComponent LoginDialogComponent ModelSelectorComponent OAuthSelectorComponent SessionSelectorComponent SettingsSelectorComponent ShowImagesSelectorComponent SkillInvocationMessageComponent Theme ThemeSelectorComponent ThinkingSelectorComponent ToolExecutionComponent TreeSelectorComponent UserMessageComponent UserMessageSelectorComponent initTheme",
	],
];

export const REFUSED_VALUES: ReadonlyMap<string, string> = new Map(
	GROUPS.flatMap(([reason, names]) => names.split(" ").map((name): [string, string] => [name, reason])),
);

/** Why a name that nobody knows is refused. */
export const UNKNOWN_NAME = "it has nothing that would do the same";
