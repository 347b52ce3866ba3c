package import CloudKitModel

extension SortKey {
  /// - Throws: `CKError.invalidArguments` for descriptors that were not made with a key.
  package init(_ descriptor: NSSortDescriptor) throws(CKError) {
    let name: String
    switch descriptor {
    case let descriptor as CKLocationSortDescriptor: name = descriptor.fieldName
    case let descriptor as KeySortDescriptor:
      guard let key = descriptor.fieldName else {
        throw CKError(.invalidArguments, "a sort descriptor needs a key")
      }
      name = key
    default:
      throw CKError(
        .invalidArguments,
        "a sort descriptor made of a key path or comparator is not supported; "
          + "use NSSortDescriptor(key:ascending:)")
    }
    self.init(
      SystemField(anyName: name).map { .system($0) } ?? .field(name),
      ascending: descriptor.ascending,
      relativeLocation: (descriptor as? CKLocationSortDescriptor)?.relativeLocation.model)
  }
}

extension NSSortDescriptor {
  package static func descriptor(for key: SortKey) -> NSSortDescriptor {
    if let place = key.relativeLocation {
      return CKLocationSortDescriptor(
        key: key.key.description, relativeLocation: CLLocation(place))
    }
    return KeySortDescriptor(key: key.key.description, ascending: key.ascending)
  }
}
