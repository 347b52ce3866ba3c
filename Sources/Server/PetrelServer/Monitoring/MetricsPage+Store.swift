import ChangeDispatch
import Measuring
import Storage
import StoreModel

extension MetricsPage {
  /// The sizes are nil if the store cannot determine them.
  mutating func add(_ store: StoreMetrics, _ sizes: StoreFileSizes?) {
    counter("petrel_store_commits_total", "Transactions that were committed.", store.commits)
    counter("petrel_store_writes_total", "Writes in the committed transactions.", store.writes)
    counter(
      "petrel_store_failures_total",
      "Transactions that failed in the engine or on the disk.", store.failures)
    histogram(
      "petrel_store_commit_duration_seconds",
      "From the start of a transaction until it is durable.",
      store.commitSeconds)
    gauge(
      "petrel_store_transaction_age_seconds", "Age of the transaction in progress; 0 without one.",
      store.secondsInTransaction ?? 0)
    gauge(
      "petrel_store_waiting", "Jobs that wait for a thread of the store.",
      [
        .init([("kind", "write")], store.waitingWrites),
        .init([("kind", "read")], store.waitingReads),
      ])
    counter(
      "petrel_store_reads_abandoned_total",
      "Reads that were cancelled because their clients no longer waited.",
      [
        .init([("state", "waiting")], store.abandonedReads.waiting),
        .init([("state", "running")], store.abandonedReads.running),
      ])
    gauge(
      "petrel_store_log_bytes", "Bytes of the write-ahead log in use.",
      store.logBytes)
    counter(
      "petrel_store_checkpoints_total", "Passes that copied the write-ahead log into the database.",
      store.checkpoints)
    counter(
      "petrel_store_checkpoint_failures_total", "Checkpoint passes that failed.",
      store.failedCheckpoints)
    gauge(
      "petrel_store_unfiled_notifications",
      "Entries of the notification log that wait to be added to its index.",
      store.unfiledNotifications)
    gauge(
      "petrel_search_cache_entries", "Columns and lists of the value index in the search cache.",
      [
        .init([("kind", "column")], store.searchCache.columns),
        .init([("kind", "list")], store.searchCache.lists),
      ])
    gauge("petrel_search_cache_bytes", "Memory of the search cache.", store.searchCache.size)
    counter(
      "petrel_search_cache_fills_total", "Entries that were added to the search cache.",
      store.searchCache.made)
    counter(
      "petrel_search_cache_evictions_total", "Entries that were evicted from the search cache.",
      store.searchCache.givenUp)
    guard let sizes else { return }
    gauge(
      "petrel_store_file_bytes", "Sizes of the store's files, or of its tables with their indexes.",
      [.init([("file", "database")], sizes.database)]
        + (sizes.writeAheadLog.map { [.init([("file", "write_ahead_log")], $0)] } ?? []))
    if let free = sizes.free {
      gauge("petrel_store_free_bytes", "Free bytes of the store's file system.", free)
    }
  }

  mutating func add(_ quotas: StoreQuotas) {
    let (limits, refusals) = (quotas.limits, quotas.refusals)
    counter(
      "petrel_limit_refusals_total",
      "Additions that were refused, by the limit that they would exceed.",
      StoreQuotas.Subject.allCases.map { .init([("limit", $0.rawValue)], refusals[$0] ?? 0) })
    gauge(
      "petrel_limit", "The limits in force.",
      StoreQuotas.Subject.allCases.compactMap { subject in
        limits[subject].map { .init([("limit", subject.rawValue)], $0) }
      })
  }

  mutating func add(_ dispatch: Dispatcher.Metrics) {
    counter(
      "petrel_changes_dispatched_total", "Changes that were matched with the subscriptions.",
      dispatch.dispatchedChanges)
    counter(
      "petrel_match_candidates_total",
      "Query subscriptions tested against changes; equal subscriptions count as one.",
      dispatch.candidates)
    counter(
      "petrel_match_candidates_fired_total",
      "Tested query subscriptions that fired; equal subscriptions count as one.",
      dispatch.firedCandidates)
    gauge(
      "petrel_changes_waiting", "Changes in memory that wait to be matched.",
      dispatch.waitingChanges)
    gauge(
      "petrel_forwards_waiting",
      "Participants of shares for whom notifications of changes are being written.",
      dispatch.waitingForwards)
    counter(
      "petrel_notifications_logged_total", "Notifications that were written to the log.",
      dispatch.loggedNotifications)
    counter(
      "petrel_notifications_withheld_total",
      "Notifications that were withheld because the subscriber may not read the record.",
      dispatch.withheldNotifications)
    counter(
      "petrel_deferred_changes_skipped_total",
      "Changes whose notifications to a deferred subscriber were not logged, because newer ones fill the log.",
      dispatch.skippedChanges)
    counter(
      "petrel_deferred_changes_given_up_total",
      "Changes whose notifications to a deferred subscriber were given up, because too many waited.",
      dispatch.givenUpChanges)
    gauge(
      "petrel_deferred_subscribers",
      "Subscribers whose notifications are logged later, because changes fire very many of them.",
      dispatch.deferredSubscribers)
    let unsent = dispatch.unsentDeliveries
    counter(
      "petrel_deliveries_unwritten_total",
      "Pushes that were not queued, by reason; their notifications are in the log.",
      [
        .init([("reason", "not_set_up")], unsent.notSetUp),
        .init([("reason", "user_limit")], unsent.userLimit),
        .init([("reason", "server_limit")], unsent.serverLimit),
      ])
    counter(
      "petrel_dispatch_failures_total", "Attempts to dispatch changes that failed.",
      dispatch.failures)
    counter(
      "petrel_dispatch_catch_ups_total",
      "Times that a database's changes were read from its outbox.",
      dispatch.catchUps)
    histogram(
      "petrel_change_dispatch_delay_seconds",
      "From the save of a change until its notifications are in the log, without deferred ones.",
      dispatch.savedToLogged)
    gauge("petrel_matching_indexes", "Matching indexes in memory.", dispatch.indexes)
    gauge(
      "petrel_matching_index_bytes", "Approximate memory of the matching indexes.",
      dispatch.indexBytes)
    counter(
      "petrel_matching_index_loads_total", "Matching indexes that were read from the store.",
      dispatch.indexLoads)
    counter(
      "petrel_matching_index_load_seconds_total",
      "Seconds in which matching indexes were read from the store.",
      [.init([], dispatch.indexLoadSeconds)])
    counter(
      "petrel_matching_index_evictions_total", "Matching indexes that were evicted to free memory.",
      dispatch.indexEvictions)
  }
}
