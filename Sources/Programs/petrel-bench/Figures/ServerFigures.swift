import Foundation

/// The metrics of one or more Petrel servers, read from `/metrics` and summed over the servers.
struct ServerFigures {
  /// The values by metric name, summed over all labels.
  private var sums: [String: Double] = [:]
  /// The buckets of each histogram, by the metric name of the histogram. A bucket has an upper
  /// bound, and the number of values up to this bound.
  private var buckets: [String: [Double: Double]] = [:]

  static let path = "/metrics"

  /// Reads the metrics of servers on this machine, and sums them.
  static func read(from ports: [Int]) throws -> ServerFigures {
    var figures = ServerFigures()
    for port in ports {
      let page = try LoadConnection(port: port).get(Self.path)
      figures.add(String(decoding: page, as: UTF8.self))
    }
    return figures
  }

  /// Creates figures without values, which count as 0 in a difference.
  init() {}

  /// Adds the values of a metrics page in the text format of Prometheus.
  mutating func add(_ page: String) {
    for line in page.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "),
        let value = Double(line[line.index(after: space)...])
      else { continue }
      let sample = line[..<space]
      let name = String(sample.prefix { $0 != "{" })
      guard name.hasSuffix("_bucket") else {
        sums[name, default: 0] += value
        continue
      }
      let bound = sample.firstMatch(of: /le="([^"]*)"/).map { String($0.1) } ?? ""
      buckets[String(name.dropLast("_bucket".count)), default: [:]][
        bound == "+Inf" ? .infinity : Double(bound) ?? .nan, default: 0] += value
    }
  }

  subscript(name: String) -> Double? { sums[name] }

  static func - (left: ServerFigures, right: ServerFigures) -> ServerFigures {
    var result = left
    for (name, value) in right.sums { result.sums[name, default: 0] -= value }
    for (name, counts) in right.buckets {
      for (bound, count) in counts {
        result.buckets[name, default: [:]][bound, default: 0] -= count
      }
    }
    return result
  }

  /// Returns the estimated value that a fraction of a histogram's values does not exceed.
  ///
  /// Within a bucket, the method interpolates linearly. In the last bucket, which has no upper
  /// bound, the result is the bucket's lower bound. The result is NaN if the histogram is empty or
  /// missing.
  ///
  /// - Parameters:
  ///   - share: The fraction, 0 to 1.
  ///   - histogram: The metric name of the histogram, without a suffix such as `_bucket`.
  func quantile(_ share: Double, of histogram: String) -> Double {
    let counts = (buckets[histogram] ?? [:]).sorted { $0.key < $1.key }
    guard let all = counts.last?.value, all > 0 else { return .nan }
    var before = (bound: 0.0, count: 0.0)
    for (bound, count) in counts {
      if count >= share * all {
        guard bound.isFinite, count > before.count else { return before.bound }
        return before.bound
          + (bound - before.bound) * (share * all - before.count) / (count - before.count)
      }
      before = (bound, count)
    }
    return before.bound
  }

  func mean(of histogram: String) -> Double {
    (sums[histogram + "_sum"] ?? .nan) / (sums[histogram + "_count"] ?? .nan)
  }
}
