/// A person's name in an archive, in the layout of Apple's class `NSPersonNameComponents`.
///
/// Foundation on Linux writes the parts of a name in another place than Apple's, and finds no part
/// in Apple's archives.
final class ArchivedPersonName: NSObject, NSSecureCoding {
  /// Apple's name of the class. Only the decoder of a user identity knows this class by it:
  /// programs archive names of their own with Foundation's class.
  static let className = "NSPersonNameComponents"

  private let parts: ArchivedPersonNameParts

  var name: PersonNameComponents { parts.name }

  init(_ name: PersonNameComponents) { parts = ArchivedPersonNameParts(name) }

  static var supportsSecureCoding: Bool { true }

  init(coder: NSCoder) {
    parts =
      coder.decodeOptional(ArchivedPersonNameParts.self, forKey: "NS.nameComponentsPrivate")
      ?? ArchivedPersonNameParts(PersonNameComponents())
  }

  func encode(with coder: NSCoder) {
    coder.encode(parts, forKey: "NS.nameComponentsPrivate")
  }
}

/// The parts of the name, in the layout of the private class that has them in Apple's archives.
final class ArchivedPersonNameParts: NSObject, NSSecureCoding {
  private static let parts: [(String, WritableKeyPath<PersonNameComponents, String?> & Sendable)] =
    [
      ("NS.namePrefix", \.namePrefix), ("NS.givenName", \.givenName),
      ("NS.middleName", \.middleName), ("NS.familyName", \.familyName),
      ("NS.nameSuffix", \.nameSuffix), ("NS.nickname", \.nickname),
    ]

  let name: PersonNameComponents

  init(_ name: PersonNameComponents) { self.name = name }

  static var supportsSecureCoding: Bool { true }

  init(coder: NSCoder) {
    var name = PersonNameComponents()
    for (key, part) in Self.parts {
      name[keyPath: part] = coder.decodeOptionalString(forKey: key)
    }
    self.name = name
  }

  func encode(with coder: NSCoder) {
    for (key, part) in Self.parts { coder.encodeOptional(name[keyPath: part], forKey: key) }
  }
}

extension NSCoder {
  func decodePersonName(forKey key: String) -> PersonNameComponents? {
    guard let unarchiver = self as? NSKeyedUnarchiver else { return nil }
    let className = ArchivedPersonName.className
    let former: AnyClass? = unarchiver.class(forClassName: className)
    unarchiver.setClass(ArchivedPersonName.self, forClassName: className)
    defer { unarchiver.setClass(former, forClassName: className) }
    return decodeOptional(ArchivedPersonName.self, forKey: key)?.name
  }
}
