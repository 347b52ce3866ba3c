import Foundation
import HistoryChecking
import JSONCoding
import Synchronization

/// A user who saves, looks up, queries and follows changes in turn, about ten times a second, while
/// others make trouble.
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
        let reply = device.ask("database", operation, body)
        note(reply, to: operation, seconds: TrialClock.seconds(since: began))
        number += 1
        TrialClock.pause(seconds: 0.1)
      }
      group.leave()
    }
  }

  /// How many operations it asks for in turn.
  private static let operations = 4

  private static func request(_ number: Int) -> (operation: String, body: JSONValue) {
    switch number % operations {
    case 0:
      let fields: JSONValue = [
        "title": ["value": .string("note \(number)")],
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
