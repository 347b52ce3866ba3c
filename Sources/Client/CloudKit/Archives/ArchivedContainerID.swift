/// The identifier of a container in an archive, in the layout of Apple's class `CKContainerID`.
final class ArchivedContainerID: NSObject, NSSecureCoding {
  let identifier: String

  init(_ identifier: String) { self.identifier = identifier }

  static var supportsSecureCoding: Bool { true }

  init?(coder: NSCoder) {
    guard let identifier = coder.decodeOptionalString(forKey: "ContainerIdentifier") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.identifier = identifier
  }

  func encode(with coder: NSCoder) {
    coder.encodeOptional(identifier, forKey: "ContainerIdentifier")
  }
}
