import Foundation

extension PersonNameComponents {
  /// The prefix, the given, middle and family names, and the suffix, in this order. If all of these
  /// are missing, the nickname; nil if the nickname is missing too.
  package var fullName: String? {
    let parts = [namePrefix, givenName, middleName, familyName, nameSuffix].compactMap { $0 }
    return parts.isEmpty ? nickname : parts.joined(separator: " ")
  }
}
