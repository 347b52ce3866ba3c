import ChangeDispatch
import Measuring
import StoreModel

extension MetricsPage {
  /// Adds the counts and times of the store's transactions, its queues and its caches.
  ///
  /// - Parameter sizes: the sizes of the store's files or tables; nil if the store cannot determine
  ///   them.
  mutating func add(_ store: StoreMetrics, _ sizes: StoreFileSizes?) {
    counter("petrel_store_commits_total", "Transactions that were committed.", store.commits)
    counter("petrel_store_writes_total", "Writes that were in them.", store.writes)
    counter(
      "petrel_store_failures_total",
      "Transactions that the engine or the disk did not let through.", store.failures)
    histogram(
      "petrel_store_commit_duration_seconds", "From the begin of a transaction to its durability.",
      store.commitSeconds)
    gauge(
      "petrel_store_transaction_age_seconds", "Age of the transaction under way; 0 without one.",
      store.secondsInTransaction ?? 0)
    gauge(
      "petrel_store_waiting", "Jobs that wait for a thread of the store.",
      [
        .init([("kind", "write")], store.waitingWrites),
        .init([("kind", "read")], store.waitingReads),
      ])
    counter(
      "petrel_store_reads_abandoned_total",
      "Reads that were given up, for their clients had gone.",
      [
        .init([("state", "waiting")], store.abandonedReads.waiting),
        .init([("state", "running")], store.abandonedReads.running),
      ])
    gauge(
      "petrel_store_log_bytes", "Bytes in the write-ahead log since it last began anew.",
      store.logBytes)
    counter(
      "petrel_store_checkpoints_total", "Passes that copied the write-ahead log.",
      store.checkpoints)
    counter(
      "petrel_store_checkpoint_failures_total", "Those that failed.", store.failedCheckpoints)
    gauge(
      "petrel_store_unfiled_notifications",
      "Entries of the notification log that wait to be filed in its index.",
      store.unfiledNotifications)
    gauge(
      "petrel_search_cache_entries", "What searches keep of the value index.",
      [
        .init([("kind", "column")], store.searchCache.columns),
        .init([("kind", "list")], store.searchCache.lists),
      ])
    gauge("petrel_search_cache_bytes", "Memory that this takes.", store.searchCache.size)
    counter(
      "petrel_search_cache_fills_total", "Entries of the search cache that were made.",
      store.searchCache.made)
    counter(
      "petrel_search_cache_evictions_total", "Entries of the search cache that were given up.",
      store.searchCache.givenUp)
    guard let sizes else { return }
    gauge(
      "petrel_store_file_bytes", "Sizes of the store's files, or of its tables with their indexes.",
      [.init([("file", "database")], sizes.database)]
        + (sizes.writeAheadLog.map { [.init([("file", "write_ahead_log")], $0)] } ?? []))
    if let free = sizes.free {
      gauge("petrel_store_free_bytes", "What the store's file system has left.", free)
    }
  }

  /// Adds the quotas of users, databases and containers, and the number of refused additions.
  mutating func add(_ quotas: StoreQuotas) {
    let (limits, refusals) = (quotas.limits, quotas.refusals)
    counter(
      "petrel_limit_refusals_total", "Additions that were refused, by the limit that they passed.",
      StoreQuotas.Subject.allCases.map { .init([("limit", $0.rawValue)], refusals[$0] ?? 0) })
    gauge(
      "petrel_limit", "The limits in force.",
      StoreQuotas.Subject.allCases.compactMap { subject in
        limits[subject].map { .init([("limit", subject.rawValue)], $0) }
      })
  }

  /// Adds the counts and times of the dispatcher, and the memory of its subscription indexes.
  mutating func add(_ dispatch: Dispatcher.Metrics) {
    counter(
      "petrel_changes_dispatched_total", "Changes that were matched with the subscriptions.",
      dispatch.dispatchedChanges)
    counter(
      "petrel_match_candidates_total",
      "Query subscriptions that were looked at for changes, those that ask the same as one.",
      dispatch.candidates)
    counter(
      "petrel_match_candidates_fired_total", "Those of them that fired.",
      dispatch.firedCandidates)
    gauge(
      "petrel_changes_waiting", "Changes in memory that wait to be matched.",
      dispatch.waitingChanges)
    counter(
      "petrel_notifications_logged_total", "Subscriptions that fired on changes.",
      dispatch.loggedNotifications)
    counter(
      "petrel_notifications_withheld_total",
      "Those whose subscribers may not read the record, so that they got nothing.",
      dispatch.withheldNotifications)
    let unsent = dispatch.unsentDeliveries
    counter(
      "petrel_deliveries_unwritten_total",
      "Pushes that were not even written to the store, by why; their notifications are in the log.",
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
      "From the save of a change to what it fires standing in the notification log.",
      dispatch.savedToLogged)
    gauge("petrel_matching_indexes", "Matching indexes in memory.", dispatch.indexes)
    gauge("petrel_matching_index_bytes", "About what they take.", dispatch.indexBytes)
    counter(
      "petrel_matching_index_loads_total", "Indexes that were read from the store.",
      dispatch.indexLoads)
    counter(
      "petrel_matching_index_load_seconds_total", "The time that this took.",
      [.init([], dispatch.indexLoadSeconds)])
    counter(
      "petrel_matching_index_evictions_total", "Indexes that were given up for lack of memory.",
      dispatch.indexEvictions)
  }
}
