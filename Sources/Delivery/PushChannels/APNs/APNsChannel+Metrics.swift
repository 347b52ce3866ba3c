import Measuring

/// The metrics of the channel, in the Prometheus text format.
extension APNsChannel {
  /// The figures of one ``Connection``: the client of a container, a topic and an APNs environment.
  struct Figures {
    /// The labels of each sample: `container`, `topic` and `environment`.
    var labels: [(name: String, value: String)]
    var client: APNsClient.Metrics
    var answers: [APNsAnswerTally.Answer: Int]
  }

  package func addMetrics(to page: inout MetricsPage) { Self.write(figures, to: &page) }

  /// Writes the metrics of some clients to a page. The counters began at 0 when the channel was
  /// opened.
  static func write(_ figures: [Figures], to page: inout MetricsPage) {
    func each(_ value: (APNsClient.Metrics) -> Int) -> [MetricsPage.Sample] {
      figures.map { MetricsPage.Sample($0.labels, value($0.client)) }
    }
    page.counter(
      "petrel_apns_answers_total", "Answers of APNs by their status and reason.",
      figures.flatMap(\.answerSamples))
    page.counter(
      "petrel_apns_unsent_total", "Pushes that certainly did not reach APNs.", each(\.notSent))
    page.counter(
      "petrel_apns_unanswered_total", "Pushes that were sent and never answered.", each(\.unknown))
    page.counter(
      "petrel_apns_connects_total", "Attempts to connect to APNs.", each(\.connections))
    page.gauge(
      "petrel_apns_connections", "Connections to APNs, open or being opened.",
      each(\.openConnections))
    page.gauge(
      "petrel_apns_waiting", "Pushes that wait for a connection or a stream.", each(\.waiting))
    page.gauge(
      "petrel_apns_in_flight", "Pushes that were sent and have no answer yet.", each(\.inFlight))
  }

  /// The figures of all clients, in the order of containers, topics and environments.
  private var figures: [Figures] {
    connections.sorted {
      ($0.key.container, $0.key.topic, $0.key.environment.rawValue)
        < ($1.key.container, $1.key.topic, $1.key.environment.rawValue)
    }
    .map { name, connection in
      Figures(
        labels: [
          ("container", name.container), ("topic", name.topic),
          ("environment", name.environment.rawValue),
        ],
        client: connection.client.metrics, answers: connection.answers.counts)
    }
  }
}

extension APNsChannel.Figures {
  /// One sample for each kind of answer, in the order of status and reason.
  fileprivate var answerSamples: [MetricsPage.Sample] {
    answers.sorted { ($0.key.status, $0.key.reason) < ($1.key.status, $1.key.reason) }
      .map { answer, count in
        MetricsPage.Sample(
          labels + [("status", String(answer.status)), ("reason", answer.reason)], count)
      }
  }
}
