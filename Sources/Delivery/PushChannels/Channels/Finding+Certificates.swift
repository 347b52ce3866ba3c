import CloudKitModel
import Cryptography
import Foundation
import Settings

extension Finding {
  /// The number of days before the end of a certificate from which a finding is a warning.
  package static let warningDays = 30

  /// Returns the finding for the validity of a certificate.
  ///
  /// - A problem: it expired, or is not valid yet.
  /// - A warning: it expires in less than ``warningDays`` days.
  /// - Otherwise ok.
  ///
  /// - Parameters:
  ///   - what: The certificate's purpose, as text before its name.
  ///   - renewal: The advice if the certificate expired or will expire.
  package static func validity(
    of certificate: CertificateSummary, _ what: String, at now: Timestamp, renewal: String
  ) -> Finding {
    let now = Date(timeIntervalSince1970: now.seconds)
    let name = "\(what) '\(certificate.commonName)'"
    if certificate.end <= now {
      return .problem("\(name) expired on \(day(certificate.end))", renewal)
    }
    if certificate.start > now {
      return .problem(
        "\(name) is not valid before \(day(certificate.start))", "check this machine's clock")
    }
    let days = Int(certificate.end.timeIntervalSince(now) / 86_400)
    guard days >= warningDays else {
      return .warning(
        "\(name) expires in \(days == 1 ? "1 day" : "\(days) days"), on \(day(certificate.end))",
        renewal)
    }
    return .ok("\(name) is valid until \(day(certificate.end))")
  }

  /// Returns a date as `YYYY-MM-DD` in UTC.
  private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
}
