import CloudKit

/// Returns `object` after it has gone through a secure archive.
func archivedAndBack<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
  let data = try NSKeyedArchiver.archivedData(
    withRootObject: object, requiringSecureCoding: true)
  guard let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data) else {
    throw CocoaError(.coderReadCorrupt)
  }
  return copy
}
