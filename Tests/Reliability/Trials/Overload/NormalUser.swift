import Foundation
import HistoryChecking
import JSONCoding
import Synchronization

/// A user who saves, also large records and assets, looks up, queries and follows changes in turn, about
/// ten times a second, while others make trouble.
final class NormalUser: Sendable {
  /// The experience of a user in some time.
  struct Experience {
    /// By operation, seconds to the answer.
    var waitsByOperation: [String: [Double]] = [:]
    var refused: [String: Int] = [:]
    var unanswered = 0

    var waits: [Double] { waitsByOperation.values.flatMap(\.self) }

    mutating func add(_ other: Experience) {
      waitsByOperation.merge(other.waitsByOperation, uniquingKeysWith: +)
      refused.merge(other.refused, uniquingKeysWith: +)
      unanswered += other.unanswered
    }
  }

  private struct State {
    var experience = Experience()
    var isOver = false
  }

  private let state = Mutex(State())
  private let group = DispatchGroup()

  /// - Parameter device: of the user; nobody else uses it from now on.
  init(_ device: CloudDevice) {
    group.enter()
    Thread.detachNewThread { [self] in
      var number = 0
      while !state.withLock({ $0.isOver }) {
        let began = TrialClock.now
        let (operation, body) = Self.request(number)
        var reply = device.ask("database", operation, body)
        if operation == Self.upload { reply = Self.upload(after: reply, to: device.port) }
        note(reply, to: operation, seconds: TrialClock.seconds(since: began))
        number += 1
        TrialClock.pause(seconds: 0.1)
      }
      group.leave()
    }
  }

  /// How many operations it asks for in turn. Of the saves, every other one is large.
  private static let operations = 5
  private static let upload = "private/assets/upload"
  /// The bytes of a large record and of an asset.
  private static let largeSize = 100_000

  /// Uploads an asset to the URL in an answer.
  private static func upload(after reply: CloudDevice.Reply, to port: Int) -> CloudDevice.Reply {
    guard case .answer(let json) = reply else { return reply }
    guard let url = json["tokens"]?.array?.first?["url"]?.string,
      let path = URLComponents(string: url)?.percentEncodedPath
    else { return .refusal(code: "no upload URL", isDecided: true) }
    do {
      let answer = try HTTPConnection(port: port).send(
        "POST", path, String(repeating: "a", count: largeSize))
      return answer.status == 200
        ? reply : .refusal(code: "upload: HTTP \(answer.status)", isDecided: true)
    } catch {
      return .noAnswer
    }
  }

  private static func request(_ number: Int) -> (operation: String, body: JSONValue) {
    switch number % operations {
    case 0:
      let isLarge = number / operations % 2 == 1
      let title = "note \(number)" + String(repeating: " ", count: isLarge ? largeSize : 0)
      let fields: JSONValue = [
        "title": ["value": .string(title)],
        "number": ["value": .int(Int64(number % 10))],
      ]
      return (
        "private/records/modify",
        [
          "operations": [
            [
              "operationType": "forceUpdate",
              "record": [
                "recordName": .string("note\(number % 400)"), "recordType": "Note",
                "fields": fields,
              ],
            ]
          ]
        ]
      )
    case 1:
      return (
        "public/records/lookup", ["records": [["recordName": .string("article\(number % 400)")]]]
      )
    case 2:
      let filter: JSONValue = [
        "comparator": "EQUALS", "fieldName": "number", "fieldValue": ["value": 4],
      ]
      return (
        "private/records/query",
        ["query": ["recordType": "Note", "filterBy": [filter]], "resultsLimit": 20]
      )
    case 3:
      let asset: JSONValue = [
        "recordName": .string("note\(number % 400)"), "recordType": "Note", "fieldName": "picture",
      ]
      return (upload, ["tokens": [asset]])
    default:
      return ("private/changes/database", [:])
    }
  }

  private func note(_ reply: CloudDevice.Reply, to operation: String, seconds: Double) {
    state.withLock { state in
      switch reply {
      case .answer:
        state.experience.waitsByOperation[operation, default: []].append(seconds)
      case .refusal(let code, _): state.experience.refused[code, default: 0] += 1
      case .notSent, .noAnswer: state.experience.unanswered += 1
      }
    }
  }

  /// Whether it got an answer since the last time.
  var isServed: Bool { state.withLock { !$0.experience.waitsByOperation.isEmpty } }

  /// Whether each operation was answered a few times since the last time.
  var hasMetEverything: Bool {
    state.withLock { state in
      let waits = state.experience.waitsByOperation
      return waits.count == Self.operations && waits.values.allSatisfy { $0.count >= 5 }
    }
  }

  /// Returns the experience since the last call.
  func take() -> Experience {
    state.withLock { state in
      defer { state.experience = Experience() }
      return state.experience
    }
  }

  func end() {
    state.withLock { $0.isOver = true }
    group.wait()
  }
}
