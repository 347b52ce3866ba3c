/// A page of metrics in the text format of Prometheus, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
///
/// ```swift
/// var page = MetricsPage()
/// page.counter("petrel_commits_total", "Transactions that were committed.", 12)
/// page.text  // # HELP petrel_commits_total …
/// ```
///
/// Add each name once, because the format requires all samples of a name in one place. The page
/// does not contain a name without samples.
public struct MetricsPage: Sendable {
  /// The media type of ``text``.
  public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  /// One value of a metric, with the labels that distinguish this value from the other values of
  /// the same metric.
  public struct Sample: Sendable {
    /// The labels, in the order in which the page has them.
    public var labels: [(name: String, value: String)]
    /// The value.
    public var value: Double

    /// Creates a sample.
    public init(_ labels: [(name: String, value: String)] = [], _ value: Double) {
      self.labels = labels
      self.value = value
    }

    /// Creates a sample of a whole number.
    public init(_ labels: [(name: String, value: String)] = [], _ value: Int) {
      self.init(labels, Double(value))
    }
  }

  /// The page so far.
  public private(set) var text = ""

  /// Creates an empty page.
  public init() {}

  /// Adds a metric that only grows. Its name ends in `_total`.
  ///
  /// - Parameter help: the description of the metric, one sentence.
  public mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
    write(name, help, "counter", samples)
  }

  /// Adds a metric that only grows, with one value and no labels.
  public mutating func counter(_ name: String, _ help: String, _ value: Int) {
    counter(name, help, [Sample([], value)])
  }

  /// Adds a metric that rises and falls.
  public mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
    write(name, help, "gauge", samples)
  }

  /// Adds a metric that rises and falls, with one whole number and no labels.
  public mutating func gauge(_ name: String, _ help: String, _ value: Int) {
    gauge(name, help, [Sample([], value)])
  }

  /// Adds a metric that rises and falls, with one value and no labels.
  public mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    gauge(name, help, [Sample([], value)])
  }

  /// Adds the histograms of one metric, each with its labels. The counts on the page are
  /// cumulative: the count of a range includes the counts of all lower ranges.
  public mutating func histogram(
    _ name: String, _ help: String,
    _ histograms: [(labels: [(name: String, value: String)], histogram: Histogram)]
  ) {
    guard !histograms.isEmpty else { return }
    begin(name, help, "histogram")
    for (labels, histogram) in histograms {
      var count = 0
      for (place, bound) in histogram.bounds.enumerated() {
        count += histogram.counts[place]
        line(name + "_bucket", labels + [("le", Self.number(bound))], Double(count))
      }
      line(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
      line(name + "_sum", labels, histogram.sum)
      line(name + "_count", labels, Double(histogram.count))
    }
  }

  /// Adds a histogram without labels.
  public mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
    self.histogram(name, help, [([], histogram)])
  }

  private mutating func write(
    _ name: String, _ help: String, _ type: String, _ samples: [Sample]
  ) {
    guard !samples.isEmpty else { return }
    begin(name, help, type)
    for sample in samples { line(name, sample.labels, sample.value) }
  }

  private mutating func begin(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(Self.escaped(help, quote: false))\n# TYPE \(name) \(type)\n"
  }

  private mutating func line(
    _ name: String, _ labels: [(name: String, value: String)], _ value: Double
  ) {
    text += name
    if !labels.isEmpty {
      let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quote: true))\"" }
      text += "{" + pairs.joined(separator: ",") + "}"
    }
    text += " " + Self.number(value) + "\n"
  }

  /// Escapes backslashes, line breaks and, in values of labels (`quote`), quotes.
  private static func escaped(_ text: String, quote: Bool) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quote: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return String(whole) }
    return String(value)
  }
}
