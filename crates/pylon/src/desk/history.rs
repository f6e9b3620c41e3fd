//! History: pages, search, and the whole of a call.

use estelle_proto::history::HistoryRequest;
use estelle_proto::lookup::{HistorySearch, HistorySearchResult, ToolDetail, ToolDetailResult};
use estelle_proto::usage::{UsageGroup, UsageRequest, UsageResult};
use estelle_proto::{Reply, ToolUseId};

use super::context::{Asker, Context};
use super::conversations::no_history;
use super::error::{Told, unknown_word};
use crate::store::{PageQuery, SearchQuery, UsageQuery};

pub(super) async fn page(cx: &Context, asker: &Asker, request: HistoryRequest) {
    let page = cx.store.page(PageQuery::from(&request)).await;
    asker.answer(match page {
        Ok(page) => page.into_result(cx.device(), &request),
        Err(error) => no_history(cx, &request, error.told()),
    });
}

pub(super) async fn search(cx: &Context, asker: &Asker, request: HistorySearch) {
    let found = cx.store.search(SearchQuery::from(&request)).await;
    let result = match found {
        Ok(page) => HistorySearchResult {
            next_cursor: page.next_cursor,
            ..HistorySearchResult::new(cx.device(), page.hits)
        },
        Err(error) => HistorySearchResult::new(cx.device(), Vec::new()).failed(error.told()),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

pub(super) async fn detail(cx: &Context, asker: &Asker, request: ToolDetail) {
    let (conversation, call) = (request.conversation_id, request.tool_use_id);
    let new =
        |call: &ToolUseId| ToolDetailResult::new(cx.device(), conversation.clone(), call.clone());
    let parts = match cx
        .store
        .tool_detail(conversation.clone(), call.clone())
        .await
    {
        Ok(parts) => parts,
        Err(error) => {
            let result = new(&call).failed(error.told());
            return asker.answer(result.in_reply_to(request.request_id.as_ref()));
        }
    };
    for chunk in parts.chunks() {
        asker.answer(ToolDetailResult {
            part: Some(chunk.part),
            chunk: Some(chunk.chunk.to_owned()),
            offset: Some(chunk.offset),
            total_bytes: Some(chunk.total_bytes),
            last: Some(chunk.last),
            request_id: request.request_id.clone(),
            ..new(&call)
        });
    }
}

pub(super) async fn usage(cx: &Context, asker: &Asker, request: UsageRequest) {
    let group = request.group_by;
    let result = UsageResult::new(cx.device(), group.clone(), Vec::new());
    let query = UsageQuery {
        group_by: group.clone(),
        from: request.from,
        until: request.until,
        cursor: request.cursor,
    };
    let result = if let UsageGroup::Unknown(word) = &group {
        result.failed(unknown_word("groupBy", word))
    } else {
        match cx.store.usage_rows(query).await {
            Ok(page) => UsageResult {
                rows: page.rows,
                next_cursor: page.next_cursor,
                ..result
            },
            Err(error) => result.failed(error.told()),
        }
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}
