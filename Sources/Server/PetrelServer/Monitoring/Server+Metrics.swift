import Concurrency
import Configuration
import DatabaseAPI
import Measuring

extension Server {
  /// Returns all metrics of the server. The method scans no table, so monitoring may call it often.
  func metricsPage() async -> MetricsPage {
    let process = await ProcessFigures.read()
    let sizes = await store.fileSizes()
    var page = MetricsPage()
    page.gauge(
      "petrel_build_info", "1; the label has the version of the server.",
      [.init([("version", ServerVersion.current)], 1)])
    addRequests(to: &page)
    addConnections(to: &page)
    page.add(store.metrics, sizes)
    page.add(store.quotas)
    page.add(service.shareCounts, refusing: requestMetrics)
    page.add(dispatchMetrics)
    page.add(deliveryMetrics, service.deliveryTimes)
    if let membership = service.membershipMetrics { page.add(membership) }
    page.add(channels.all)
    page.counter(
      "petrel_log_lines_lost_total", "Lines of the log that could not be written.", log.linesLost)
    page.add(jobs)
    page.add(process)
    return page
  }

  /// Adds the counts and times of requests, and the counts of requests that wait for other requests
  /// of the same caller.
  private func addRequests(to page: inout MetricsPage) {
    let times = requestTimes.histograms
    page.counter(
      "petrel_requests_total", "Requests that were answered, including failed ones.",
      times.map { .init([("operation", $0.operation)], $0.histogram.count) })
    page.histogram(
      "petrel_request_duration_seconds",
      "From a complete request to its answer. Web courier polls wait by design and are left out.",
      times.filter { $0.operation != Routes.courierName }.map {
        ([("operation", $0.operation)], $0.histogram)
      })
    let metrics = requestMetrics
    page.counter(
      "petrel_request_failures_total", "Requests that failed as a whole, by CloudKit's error code.",
      metrics.failedOperations.map {
        .init([("operation", $0.key.operation), ("code", $0.key.code.rawValue)], $0.value)
      }.sorted())
    page.counter(
      "petrel_item_failures_total",
      "Records, zones or subscriptions that failed in requests that succeeded.",
      metrics.failedItems.map { .init([("code", $0.key.rawValue)], $0.value) }.sorted())
    let turns = service.turnMetrics
    page.gauge(
      "petrel_requests_waiting", "Requests that wait for long requests of the same callers.",
      turns.waiting)
    page.counter(
      "petrel_requests_delayed_total",
      "Requests that have waited for requests of the same callers.",
      turns.delayed)
    page.counter(
      "petrel_requests_throttled_total",
      "Requests that were refused because too many of the same callers waited.", turns.refused)
  }

  private func addConnections(to page: inout MetricsPage) {
    let metrics = httpMetrics
    page.gauge("petrel_http_connections", "Connections that are open.", metrics.openConnections)
    page.counter(
      "petrel_http_connections_evicted_total", "Idle connections closed to admit others.",
      metrics.connectionsEvicted)
    page.gauge(
      "petrel_http_requests_under_way", "Requests that are received or answered, including polls.",
      metrics.requestsUnderWay)
    page.gauge(
      "petrel_http_buffered_bytes", "Bodies and answers in memory.", metrics.bufferedBytes)
    page.gauge("petrel_http_spooled_bytes", "Uploads in files.", metrics.spooledBytes)
    page.counter(
      "petrel_http_requests_broken_total", "Requests whose answer was not sent completely.",
      metrics.requestsBroken)
    page.counter(
      "petrel_http_refused_total", "Requests and connections refused before they were handled.",
      metrics.refused.map { .init([("reason", $0.key.rawValue)], $0.value) }.sorted())
    let readers = service.courierReaders
    page.gauge(
      "petrel_courier_readers", "Readers of the web courier that wait for notifications.",
      [
        .init([("kind", "poll")], max(0, readers.waiting - readers.streams)),
        .init([("kind", "stream")], readers.streams),
      ])
    page.gauge(
      "petrel_courier_requests_waiting",
      "Requests of the web courier that wait for the server's attention.",
      service.courierRequestsWaiting)
  }
}

extension MetricsPage {
  fileprivate mutating func add(_ jobs: [BackgroundJob]) {
    let statuses = jobs.map { (labels: [("job", $0.name)], status: $0.status) }
    counter(
      "petrel_background_runs_total", "Runs of the jobs that the server does by itself.",
      statuses.map { .init($0.labels, $0.status.runs) })
    counter(
      "petrel_background_failures_total", "Runs of those jobs that failed.",
      statuses.map { .init($0.labels, $0.status.failures) })
    gauge(
      "petrel_background_last_run_timestamp_seconds",
      "When the last run of those jobs ended, in seconds since 1970.",
      statuses.compactMap { labels, status in
        status.lastRun.map { .init(labels, $0.timeIntervalSince1970) }
      })
  }
}

extension [MetricsPage.Sample] {
  /// Returns the samples in the order of the values of their labels. A dictionary has no fixed
  /// order, so two pages would otherwise differ in their order.
  func sorted() -> [MetricsPage.Sample] {
    sorted { left, right in
      left.labels.map(\.value).lexicographicallyPrecedes(right.labels.map(\.value))
    }
  }
}
