import ChangeDispatch
import Measuring
import OutboundHTTP

extension MetricsPage {
  mutating func add(_ delivery: DeliveryWorker.Metrics, _ times: DeliveryTimes) {
    counter(
      "petrel_deliveries_total", "Pushes to single devices, by what became of them.",
      [
        .init([("outcome", "accepted")], delivery.delivered),
        .init([("outcome", "merged")], delivery.merged),
        .init([("outcome", "expired")], delivery.expired),
        .init([("outcome", "refused")], delivery.refused),
        .init([("outcome", "abandoned")], delivery.abandoned),
      ])
    counter(
      "petrel_delivery_retries_total", "Attempts that are to be repeated.", delivery.retried)
    counter(
      "petrel_delivery_postponements_total", "Pushes put off because of the pace of their device.",
      delivery.postponed)
    gauge("petrel_deliveries_under_way", "Pushes that are being sent.", delivery.underWay)
    gauge("petrel_deliveries_waiting", "Pushes that wait in the store, about.", delivery.waiting)
    gauge(
      "petrel_deliveries_merging_harder",
      "1 while so many wait that silent ones for a device become one.",
      delivery.isMergingHarder ? 1 : 0)
    gauge(
      "petrel_delivery_routes_resting", "Routes that stand still because they do not work.",
      delivery.restingRoutes)
    histogram(
      "petrel_delivery_step_duration_seconds",
      "Steps of a push: from the notification log to its first attempt, and from an attempt to its "
        + "acceptance.",
      [
        ([("step", "logged_to_sent")], times.loggedToSent),
        ([("step", "sent_to_accepted")], times.sentToAccepted),
      ])
    histogram(
      "petrel_delivery_delay_seconds", "From the save of a change to the acceptance of its push.",
      times.savedToAccepted)
  }

  mutating func add(_ routes: [APNsRoutes.Figures]) {
    func each(_ value: (APNsRoutes.Figures) -> Int) -> [Sample] {
      routes.map { Sample($0.labels, value($0)) }
    }
    counter(
      "petrel_apns_answers_total", "Answers of APNs by their status and reason.",
      routes.flatMap { route in
        route.answers.sorted { ($0.key.status, $0.key.reason) < ($1.key.status, $1.key.reason) }
          .map { answer, count in
            Sample(
              route.labels + [("status", String(answer.status)), ("reason", answer.reason)], count)
          }
      })
    counter(
      "petrel_apns_unsent_total", "Pushes that APNs certainly did not get.",
      each { $0.client.notSent })
    counter(
      "petrel_apns_unanswered_total", "Pushes whose answer never came.", each { $0.client.unknown })
    counter(
      "petrel_apns_connects_total", "Attempts to connect to APNs.", each { $0.client.connections })
    gauge(
      "petrel_apns_connections", "Connections to APNs, open or being opened.",
      each { $0.client.openConnections })
    gauge(
      "petrel_apns_waiting", "Pushes that wait for a connection or a stream.",
      each { $0.client.waiting })
    gauge(
      "petrel_apns_in_flight", "Pushes that were sent and have no answer yet.",
      each { $0.client.inFlight })
  }

  /// What is posted to the servers of others.
  mutating func add(posting clients: [(kind: String, metrics: HTTPClient.Metrics)]) {
    func each(_ value: (HTTPClient.Metrics) -> Int) -> [Sample] {
      clients.map { Sample([("kind", $0.kind)], value($0.metrics)) }
    }
    counter(
      "petrel_posts_answered_total", "Posts that were answered, whatever the status.",
      each(\.answered))
    counter("petrel_posts_failed_total", "Posts without an answer.", each(\.failed))
    counter(
      "petrel_posts_refused_total", "Posts that were not sent, for too many waited.",
      each(\.refused))
    gauge("petrel_posts_under_way", "Posts that are being sent.", each(\.underWay))
    gauge("petrel_posts_waiting", "Posts that wait.", each(\.waiting))
  }

  /// By the names that Prometheus' own client libraries have for them.
  mutating func add(_ process: ProcessFigures) {
    counter(
      "process_cpu_seconds_total", "Processor time in seconds.", [.init([], process.cpuSeconds)])
    gauge("process_resident_memory_bytes", "Memory in use.", process.residentBytes)
    gauge("process_virtual_memory_bytes", "Memory that is mapped.", process.virtualBytes)
    gauge("process_open_fds", "Open files and sockets.", process.openFiles)
    gauge("process_max_fds", "How many may be open.", process.maximumFiles)
    gauge("process_threads", "Threads.", process.threads)
    gauge(
      "process_start_time_seconds", "When the process was started, since 1970-01-01 UTC.",
      process.startSeconds)
  }
}

extension APNsRoutes.Figures {
  fileprivate var labels: [(name: String, value: String)] {
    [("container", container), ("environment", environment.rawValue)]
  }
}
