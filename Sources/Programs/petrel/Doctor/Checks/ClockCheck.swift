import CLinuxStatus
import Configuration
import Foundation
import Settings

/// The check of the machine's clock. Signed requests, and the provider tokens that a server sends
/// to APNs, contain times. If the clock is wrong, the receivers refuse them.
struct ClockCheck: Sendable {
  /// The permitted difference to the clock of another machine, in seconds. Network delays and the
  /// rounding to whole seconds cause differences of a few seconds.
  static let tolerance = 5.0

  let configuration: ServerConfiguration
  let samples: [ClockSamples.Sample]

  func findings() -> [Finding] {
    let isKept = Self.isKept
    return [Self.judge(isKept: isKept)]
      + Self.judge(samples, signatureWindow: configuration.signatureWindow)
  }

  /// Whether a service keeps the clock synchronized, according to the kernel (adjtimex(2)); `nil`
  /// if the kernel does not answer.
  private static var isKept: Bool? {
    var state = timex()
    let result = adjtimex(&state)
    guard result >= 0 else { return nil }
    return result != TIME_ERROR && state.status & STA_UNSYNC == 0
  }

  static func judge(isKept: Bool?) -> Finding {
    switch isKept {
    case true?: .ok("the kernel reports that the clock is synchronized")
    case false?:
      .warning(
        "the kernel reports that no service synchronizes the clock",
        "run 'timedatectl set-ntp true', or install chrony; in a container, do so on the host")
    case nil: .ok("the kernel does not report whether the clock is synchronized")
    }
  }

  /// Returns a finding for each sample. A difference above ``tolerance`` is a warning. It is a
  /// problem from half of `signatureWindow` on, or from 300 seconds if that is less.
  ///
  /// - Parameter signatureWindow: The seconds by which the time of a signed request may differ from
  ///   the server's clock.
  static func judge(_ samples: [ClockSamples.Sample], signatureWindow: Double) -> [Finding] {
    samples.map { sample in
      let seconds = Int(abs(sample.lead).rounded())
      guard abs(sample.lead) > tolerance else {
        return .ok("the clock agrees with \(sample.source)")
      }
      let text =
        "the clock is \(seconds) s \(sample.lead > 0 ? "ahead of" : "behind") that of \(sample.source)"
      let advice = "set the clock: timedatectl set-ntp true, or chronyc makestep"
      guard Double(seconds) >= min(signatureWindow, 600) / 2 else { return .warning(text, advice) }
      return .problem(
        text
          + ": signed requests and provider tokens look expired, or not yet valid",
        advice)
    }
  }
}
