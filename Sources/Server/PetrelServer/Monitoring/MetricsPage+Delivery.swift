import ChangeDispatch
import Measuring
import OutboundHTTP
import PushChannels

extension MetricsPage {
  mutating func add(_ delivery: DeliveryWorker.Metrics, _ times: DeliveryTimes) {
    counter(
      "petrel_deliveries_total", "Pushes to single devices, by outcome.",
      [
        .init([("outcome", "accepted")], delivery.delivered),
        .init([("outcome", "merged")], delivery.merged),
        .init([("outcome", "expired")], delivery.expired),
        .init([("outcome", "refused")], delivery.refused),
        .init([("outcome", "abandoned")], delivery.abandoned),
      ])
    counter(
      "petrel_delivery_retries_total", "Attempts that failed and are repeated.", delivery.retried)
    counter(
      "petrel_delivery_postponements_total",
      "Pushes postponed by the pace of their device or by the capacity.",
      delivery.postponed)
    gauge("petrel_deliveries_under_way", "Pushes that are being sent.", delivery.underWay)
    gauge(
      "petrel_deliveries_waiting", "Approximate pushes that wait in the store.", delivery.waiting)
    gauge(
      "petrel_deliveries_merging",
      "1 while so many pushes wait that the silent pushes of a device are merged into one.",
      delivery.isMergingHarder ? 1 : 0)
    gauge(
      "petrel_delivery_routes_paused", "Routes that are paused because they do not work.",
      delivery.pausedRoutes)
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

  /// Adds the metrics of the push channels. The label `kind` names the channel of each HTTP client.
  mutating func add(_ channels: [any PushChannel]) {
    for channel in channels { channel.addMetrics(to: &self) }
    let clients = channels.compactMap { channel in
      channel.requestMetrics.map { (channel: type(of: channel).kind.rawValue, metrics: $0) }
    }
    func each(_ value: (HTTPClient.Metrics) -> Int) -> [Sample] {
      clients.map { Sample([("kind", $0.channel)], value($0.metrics)) }
    }
    counter(
      "petrel_posts_answered_total", "Posts that were answered, whatever the status.",
      each(\.answered))
    counter("petrel_posts_failed_total", "Posts without an answer.", each(\.failed))
    counter(
      "petrel_posts_refused_total", "Posts that were not sent because too many waited.",
      each(\.refused))
    gauge("petrel_posts_under_way", "Posts that are being sent.", each(\.underWay))
    gauge("petrel_posts_waiting", "Posts that wait.", each(\.waiting))
  }

  /// Adds the use of resources by this process, with the names that Prometheus' own client
  /// libraries use.
  mutating func add(_ process: ProcessFigures) {
    counter(
      "process_cpu_seconds_total", "Processor time in seconds.", [.init([], process.cpuSeconds)])
    gauge("process_resident_memory_bytes", "Memory in use.", process.residentBytes)
    gauge("process_virtual_memory_bytes", "Memory that is mapped.", process.virtualBytes)
    gauge("process_open_fds", "Open files and sockets.", process.openFiles)
    gauge("process_max_fds", "The limit of open files and sockets.", process.maximumFiles)
    gauge("process_threads", "Threads.", process.threads)
    gauge(
      "process_start_time_seconds", "When the process was started, since 1970-01-01 UTC.",
      process.startSeconds)
  }
}
