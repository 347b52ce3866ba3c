import CloudKitModel
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding

/// A request to the admin API with an authenticated caller and checked arguments.
struct AdminRequest: Sendable {
  /// The identifier of the request in the log and in the answer's header.
  var uuid: RequestUUID
  /// The caller.
  var identity: AdminIdentity
  /// The values of the endpoint's arguments.
  var arguments: AdminArguments
  /// The time at which the router had checked the arguments.
  var now: Timestamp
  /// The HTTP request as the client sent it.
  var http: HTTPRequest
}

extension HTTPResponse {
  /// Creates an answer with a value as JSON.
  init<Value>(_ value: Value, as shape: AnswerShape<Value>) {
    self.init(json: Data(shape.text(value).utf8))
  }
}
