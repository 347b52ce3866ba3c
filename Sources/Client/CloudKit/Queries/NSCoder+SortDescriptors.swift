extension NSCoder {
  /// Encodes the keys and directions of sort descriptors under `key`.
  ///
  /// Foundation on Linux cannot archive sort descriptors. This method therefore writes the same
  /// form on all platforms. It leaves out a descriptor without a key, because no query accepts one.
  func encodeSortDescriptors(_ descriptors: [NSSortDescriptor]?, forKey key: String) {
    guard let descriptors else { return }
    let archive = descriptors.compactMap { descriptor -> NSObject? in
      if let nearest = descriptor as? CKLocationSortDescriptor { return nearest }
      guard let name = descriptor.searchableKey else { return nil }
      return [name as NSString, NSNumber(value: descriptor.ascending)] as NSArray
    }
    encode(NSArray(array: archive), forKey: key)
  }

  func decodeSortDescriptors(forKey key: String) -> [NSSortDescriptor]? {
    guard containsValue(forKey: key) else { return nil }
    let classes: [AnyClass] = [
      NSArray.self, NSString.self, NSNumber.self, CKLocationSortDescriptor.self,
    ]
    guard let archive = decodeObject(of: classes, forKey: key) as? [Any] else { return nil }
    return archive.compactMap { item in
      if let nearest = item as? CKLocationSortDescriptor { return nearest }
      guard let parts = item as? [Any], parts.count == 2, let name = parts[0] as? String,
        let ascending = parts[1] as? Bool
      else { return nil }
      return NSSortDescriptor(key: name, ascending: ascending)
    }
  }
}
