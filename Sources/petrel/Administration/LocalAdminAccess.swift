import Foundation
import HTTPService
import PetrelServer
import Storage

/// The admin API on a store that this process has open.
struct LocalAdminAccess: AdminAccess {
  let store: any RecordStore
  /// Whether a server has the store open too.
  let isServed: Bool
  private let administration: LocalAdministration

  init(store: any RecordStore, isServed: Bool, configuration: ServerConfiguration) {
    self.store = store
    self.isServed = isServed
    administration = LocalAdministration(store: store, configuration: configuration)
  }

  func answer(to call: AdminCall) async throws -> (status: Int, body: Data) {
    let response = await administration.respond(
      to: HTTPRequest(
        method: call.method.rawValue, target: LocalAdministration.path + call.target,
        body: call.body))
    guard case .data(let data) = response.body else { return (response.status, Data()) }
    return (response.status, data)
  }

  func remark(on failure: AdminFailure) -> String? { nil }
}
