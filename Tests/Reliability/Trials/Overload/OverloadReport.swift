import Foundation

/// The measurements of a phase of the overload test.
struct OverloadPhase {
  var name: String
  var seconds = 0.0
  var offered = 0.0
  var saved: [Double] = []
  /// Refusals by code, and those of them that do not say when to come back.
  var refused: [String: Int] = [:]
  var refusedWithoutTime = 0
  var unanswered = 0
  /// The waits of a client that only reads, at an even pace.
  var bystander: [Double] = []
  var bystanderRefused = 0
  var residentBytes = 0

  init(_ name: String) { self.name = name }

  var savedRate: Double { Double(saved.count) / max(seconds, 0.001) }

  static func percentile(_ values: [Double], _ part: Double) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }

  mutating func note(_ ending: LoadLoop.Ending) {
    guard let status = ending.status else {
      unanswered += 1
      return
    }
    if status == 200, ending.code == nil {
      saved.append(ending.seconds)
    } else {
      refused[ending.code ?? "HTTP \(status)", default: 0] += 1
      if ending.retryAfter == nil { refusedWithoutTime += 1 }
    }
  }

  var text: String {
    let codes = refused.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return String(
      format:
        "%@: offered %.0f/s, saved %.0f/s, p50 %.0f ms, p99 %.0f ms, most %.0f ms; refused %@; "
        + "unanswered %d; a bystander waits p50 %.1f, p99 %.0f ms; %.0f MB",
      name.padding(toLength: 24, withPad: " ", startingAt: 0), offered, savedRate,
      Self.percentile(saved, 0.5) * 1e3, Self.percentile(saved, 0.99) * 1e3,
      (saved.max() ?? 0) * 1e3, codes.isEmpty ? "none" : codes.joined(separator: ", "), unanswered,
      Self.percentile(bystander, 0.5) * 1e3, Self.percentile(bystander, 0.99) * 1e3,
      Double(residentBytes) / 1e6)
  }
}
