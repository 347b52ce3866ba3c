import CloudKitModel
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding

/// A request to the admin API with an authenticated caller and checked arguments.
struct AdminRequest: Sendable {
  /// The identifier of the request in the log and in the answer's header.
  var uuid: RequestUUID
  var identity: AdminIdentity
  var arguments: AdminArguments
  /// The time at which the router had checked the arguments.
  var now: Timestamp
  var http: HTTPRequest
}

extension HTTPResponse {
  init<Value>(_ value: Value, as shape: AnswerShape<Value>) {
    self.init(json: Data(shape.text(value).utf8))
  }
}
