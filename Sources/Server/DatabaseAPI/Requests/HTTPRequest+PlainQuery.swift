import CloudKitModel
import HTTPService
import WebServices

extension HTTPRequest {
  /// Returns the value of a query parameter as a text for the store; nil if the parameter is
  /// absent.
  ///
  /// Not every engine of the store can keep the character U+0000, so the server refuses this
  /// character with all engines.
  ///
  /// - Throws: `BAD_REQUEST` with the name of the parameter, if its value contains U+0000.
  func plainQuery(_ name: String) throws(ServiceError) -> String? {
    guard let text = query(name) else { return nil }
    guard !text.utf8.contains(0) else {
      throw ServiceError(.badRequest, "\(name): \(ServiceError.nulRule)")
    }
    return text
  }
  /// Returns whether the query asks for answers that name the caller by `ZoneID.currentOwnerName`.
  func namesCallerByDefault() throws(ServiceError) -> Bool {
    let parameter = MessageContext.callerNameParameter
    guard let name = query(parameter) else { return false }
    guard name == ZoneID.currentOwnerName else {
      throw ServiceError(.badRequest, "\(parameter): must be \(ZoneID.currentOwnerName)")
    }
    return true
  }
}
