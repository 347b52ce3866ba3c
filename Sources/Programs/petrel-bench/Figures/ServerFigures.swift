import Foundation

/// What servers tell of themselves at `/metrics`, added up.
struct ServerFigures {
  /// The values by the names of their lines, those with different labels added.
  private var sums: [String: Double] = [:]
  /// How often values of a histogram were not above a bound, by the names of histograms.
  private var buckets: [String: [Double: Double]] = [:]

  static let path = "/metrics"

  /// Reads the pages of servers on this machine.
  static func read(from ports: [Int]) throws -> ServerFigures {
    var figures = ServerFigures()
    for port in ports {
      let page = try LoadConnection(port: port).get(Self.path)
      figures.add(String(decoding: page, as: UTF8.self))
    }
    return figures
  }

  init() {}

  /// Adds a page in Prometheus' text format.
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

  /// A counter's or gauge's value of all servers; nil where none has it.
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

  /// The value that this share of a histogram's values does not pass, within a range as if they were
  /// spread evenly; NaN without any.
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

  /// The mean of a histogram's values.
  func mean(of histogram: String) -> Double {
    (sums[histogram + "_sum"] ?? .nan) / (sums[histogram + "_count"] ?? .nan)
  }
}
