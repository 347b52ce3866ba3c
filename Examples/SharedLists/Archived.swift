import CloudKit

/// An object of CloudKit as a value that can be encoded: as the data of a keyed archive.
struct Archived<Object: NSObject & NSSecureCoding>: Codable {
  let object: Object

  init(_ object: Object) {
    self.object = object
  }

  init(from decoder: any Decoder) throws {
    let data = try decoder.singleValueContainer().decode(Data.self)
    guard let object = try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
    else { throw CocoaError(.coderValueNotFound) }
    self.object = object
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(
      NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true))
  }
}
