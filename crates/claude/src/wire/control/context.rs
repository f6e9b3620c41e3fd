//! The answer to `get_context_usage`: what fills the context window.
//!
//! All counts are tokens, estimated by the CLI.

use crate::wire::usage::ContextCategoryKind;

wire_struct! {
    /// What fills the context.
    pub struct ContextReport {
        optional {
            categories: Vec<ContextCategory>,
            "totalTokens" => total_tokens: u64,
            "maxTokens" => max_tokens: u64,
            "rawMaxTokens" => raw_max_tokens: u64,
            "autocompactSource" => autocompact_source: String,
            percentage: f64,
            "gridRows" => grid_rows: Vec<Vec<GridSquare>>,
            model: String,
            "memoryFiles" => memory_files: Vec<MemoryFileTokens>,
            "mcpTools" => mcp_tools: Vec<McpToolTokens>,
            "mcpInstructions" => mcp_instructions: Vec<McpInstructionTokens>,
            "deferredBuiltinTools" => deferred_builtin_tools: Vec<DeferredToolTokens>,
            "systemTools" => system_tools: Vec<NamedTokens>,
            "systemPromptSections" => system_prompt_sections: Vec<NamedTokens>,
            agents: Vec<ContextAgentTokens>,
            "slashCommands" => slash_commands: SlashCommandTokens,
            skills: SkillsTokens,
            "autoCompactThreshold" => auto_compact_threshold: u64,
            "isAutoCompactEnabled" => is_auto_compact_enabled: bool,
            "messageBreakdown" => message_breakdown: MessageBreakdown,
            "apiUsage" => api_usage: ApiUsage,
        }
    }
}

wire_struct! {
    /// One kind of content.
    pub struct ContextCategory {
        required { name: String }
        optional {
            id: String,
            tokens: u64,
            color: String,
            "isDeferred" => is_deferred: bool,
            kind: ContextCategoryKind,
        }
    }
}

wire_struct! {
    /// One square of the picture the terminal draws.
    pub struct GridSquare {
        optional {
            color: String,
            "isFilled" => is_filled: bool,
            "categoryName" => category_name: String,
            tokens: u64,
            percentage: f64,
            "squareFullness" => square_fullness: f64,
        }
    }
}

wire_struct! {
    /// A memory file's share.
    pub struct MemoryFileTokens {
        required { path: String }
        optional { "type" => kind: String, tokens: u64 }
    }
}

wire_struct! {
    /// An MCP tool's share.
    pub struct McpToolTokens {
        required { name: String }
        optional {
            "serverName" => server_name: String,
            tokens: u64,
            "isLoaded" => is_loaded: bool,
        }
    }
}

wire_struct! {
    /// The share of an MCP server's instructions.
    pub struct McpInstructionTokens {
        required { "serverName" => server_name: String }
        optional { tokens: u64 }
    }
}

wire_struct! {
    /// The share of a tool that is loaded on demand.
    pub struct DeferredToolTokens {
        required { name: String }
        optional { tokens: u64, "isLoaded" => is_loaded: bool }
    }
}

wire_struct! {
    /// The share of a named thing.
    pub struct NamedTokens {
        required { name: String }
        optional { tokens: u64 }
    }
}

wire_struct! {
    /// An agent definition's share.
    pub struct ContextAgentTokens {
        required { "agentType" => agent_type: String }
        optional {
            source: String,
            "pluginId" => plugin_id: String,
            path: String,
            tokens: u64,
        }
    }
}

wire_struct! {
    /// The share of slash commands.
    pub struct SlashCommandTokens {
        optional {
            "totalCommands" => total_commands: u64,
            "includedCommands" => included_commands: u64,
            tokens: u64,
        }
    }
}

wire_struct! {
    /// The share of skills.
    pub struct SkillsTokens {
        optional {
            "totalSkills" => total_skills: u64,
            "includedSkills" => included_skills: u64,
            tokens: u64,
            "skillFrontmatter" => skill_frontmatter: Vec<SkillTokens>,
        }
    }
}

wire_struct! {
    /// One skill's share.
    pub struct SkillTokens {
        required { name: String }
        optional {
            source: String,
            "pluginName" => plugin_name: String,
            "pluginId" => plugin_id: String,
            path: String,
            tokens: u64,
        }
    }
}

wire_struct! {
    /// The share of messages, by what they are.
    pub struct MessageBreakdown {
        optional {
            "toolCallTokens" => tool_call_tokens: u64,
            "toolResultTokens" => tool_result_tokens: u64,
            "attachmentTokens" => attachment_tokens: u64,
            "assistantMessageTokens" => assistant_message_tokens: u64,
            "userMessageTokens" => user_message_tokens: u64,
            "redirectedContextTokens" => redirected_context_tokens: u64,
            "unattributedTokens" => unattributed_tokens: u64,
            "toolCallsByType" => tool_calls_by_type: Vec<ToolCallTokens>,
            "attachmentsByType" => attachments_by_type: Vec<AttachmentTokens>,
        }
    }
}

wire_struct! {
    /// The share of one tool's calls and results.
    pub struct ToolCallTokens {
        required { name: String }
        optional { "callTokens" => call_tokens: u64, "resultTokens" => result_tokens: u64 }
    }
}

wire_struct! {
    /// The share of one kind of attachment.
    pub struct AttachmentTokens {
        required { name: String }
        optional { tokens: u64 }
    }
}

wire_struct! {
    /// The API's own count of the last request.
    pub struct ApiUsage {
        optional {
            input_tokens: u64,
            output_tokens: u64,
            cache_creation_input_tokens: u64,
            cache_read_input_tokens: u64,
        }
    }
}
