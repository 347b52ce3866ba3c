import Foundation
import HistoryChecking
import JSONCoding

/// A user's device: asks the server over HTTP and writes down what it did and saw.
///
/// It is used by one thread at a time.
final class CloudDevice: @unchecked Sendable {
  /// The outcome of a request.
  enum Reply {
    case answer(JSONValue)
    /// The server refused it and said why; nothing of it was done, if `isDecided`.
    case refusal(code: String, isDecided: Bool)
    case notSent
    case noAnswer
  }

  let user: String
  let device: String
  private let token: String
  private let container: String
  var port = 0
  /// How long an answer may take, in seconds.
  var patience = 10
  var history = History()
  private var connection: HTTPConnection?
  private(set) var answers = 0
  private(set) var refusals: [String: Int] = [:]
  private(set) var greatestRetryAfter = 0.0
  /// The requests that were refused although they should not have been.
  var refused: [String] = []

  init(user: String, device: String, token: String, container: String) {
    self.user = user
    self.device = device
    self.token = token
    self.container = container
  }

  /// The name of the device for the server.
  var name: String { "\(user)-\(device)" }

  /// The token at APNs.
  var pushToken: String {
    let bytes = name.utf8.map { String($0, radix: 16) }.joined()
    return String((bytes + String(repeating: "0", count: 64)).prefix(64))
  }

  func hangUp() { connection = nil }

  func ask(_ root: String, _ operation: String, _ body: JSONValue) -> Reply {
    do {
      if connection == nil { connection = try HTTPConnection(port: port, seconds: patience) }
    } catch {
      return .notSent
    }
    guard let connection else { return .notSent }
    let allowed = CharacterSet.alphanumerics
    let escaped = token.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    let path =
      "/\(root)/1/\(container)/development/\(operation)?ckWebAuthToken=\(escaped)&clientId=\(name)"
    do {
      let answer = try connection.send("POST", path, body.text)
      let json = try? JSONValue(parsing: Data(answer.body))
      guard answer.status == 200, let json else {
        let code = json?["serverErrorCode"]?.string ?? "HTTP \(answer.status)"
        // An unexpected error is reported in full.
        let reason = code == "INTERNAL_ERROR" ? json?["reason"]?.string : nil
        refusals[reason.map { "\(code) (\($0))" } ?? code, default: 0] += 1
        greatestRetryAfter = max(greatestRetryAfter, json?["retryAfter"]?.double ?? 0)
        // Not as long as it says, but long enough not to fill the history with refusals.
        TrialClock.pause(seconds: 0.01)
        return .refusal(code: code, isDecided: Self.isDecided(code))
      }
      answers += 1
      return .answer(json)
    } catch .notSent {
      self.connection = nil
      return .notSent
    } catch {
      self.connection = nil
      return .noAnswer
    }
  }

  /// Whether an error says that nothing was done. Of one inside the server nobody knows.
  private static func isDecided(_ code: String) -> Bool {
    code != "INTERNAL_ERROR" && !code.hasPrefix("HTTP 5")
  }

  /// Asks until the server answers, while `goesOn` says so.
  func insist(
    _ root: String, _ operation: String, _ body: JSONValue, while goesOn: () -> Bool = { true }
  ) -> (answer: JSONValue, span: Span)? {
    let began = TrialClock.now
    var attempts = 0
    while goesOn() {
      if case .answer(let answer) = ask(root, operation, body) {
        return (answer, Span(began: began, ended: TrialClock.now))
      }
      attempts += 1
      TrialClock.pause(seconds: Double(min(attempts, 20)) / 1e3)
    }
    return nil
  }
}
