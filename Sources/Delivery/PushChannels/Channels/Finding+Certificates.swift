import CloudKitModel
import Cryptography
import Foundation
import Settings

extension Finding {
  /// A certificate that is valid for fewer than this number of days gives a warning.
  package static let warningDays = 30

  /// Returns the finding for the validity of a certificate.
  ///
  /// - A problem if the certificate has expired or is not valid yet.
  /// - A warning if the certificate expires in less than ``warningDays`` days.
  /// - Otherwise the finding that the certificate is right.
  ///
  /// - Parameters:
  ///   - what: The purpose of the certificate. The text of the finding begins with it.
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
