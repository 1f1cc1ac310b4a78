/** Names of Californian plants, by tag. */
const NAMES_BY_TAG: Record<string, string> = {
  annual:
    "Clarkia amoena, Clarkia unguiculata, Collinsia heterophylla, Eschscholzia californica, Gilia capitata, Gilia tricolor, Layia platyglossa, Limnanthes douglasii, Lupinus nanus, Nemophila menziesii, Phacelia tanacetifolia",
  fern: "Adiantum jordanii, Athyrium filix-femina, Dryopteris arguta, Polystichum munitum, Woodwardia fimbriata",
  grass:
    "Bouteloua gracilis, Calamagrostis nutkaensis, Carex pansa, Festuca californica, Festuca idahoensis, Melica imperfecta, Muhlenbergia rigens, Stipa pulchra",
  perennial:
    "Achillea millefolium, Aquilegia formosa, Asclepias fascicularis, Dicentra formosa, Epilobium canum, Erigeron glaucus, Eriogonum grande, Fragaria chiloensis, Grindelia stricta, Heuchera maxima, Iris douglasiana, Monardella villosa, Penstemon heterophyllus, Salvia spathacea, Satureja douglasii, Sidalcea malviflora, Sisyrinchium bellum, Solidago velutina, Symphyotrichum chilense",
  "shrub (deciduous)":
    "Calycanthus occidentalis, Cornus sericea, Philadelphus lewisii, Ribes sanguineum, Rosa californica",
  "shrub (evergreen)":
    "Arctostaphylos densiflora, Artemisia californica, Ceanothus thyrsiflorus, Dendromecon harfordii, Frangula californica, Garrya elliptica, Heteromeles arbutifolia, Salvia clevelandii, Salvia mellifera, Vaccinium ovatum",
  "tree (deciduous)":
    "Acer circinatum, Acer macrophyllum, Aesculus californica, Cercis occidentalis, Platanus racemosa, Quercus lobata",
  "tree (evergreen)":
    "Arbutus menziesii, Lyonothamnus floribundus, Quercus agrifolia, Sequoia sempervirens, Umbellularia californica",
  vine: "Aristolochia californica, Clematis lasiantha, Lonicera hispidula, Vitis californica",
};

/** Sample plants for screenshots, sorted by name, with ids from 1. */
export const SAMPLE_PLANTS = Object.entries(NAMES_BY_TAG)
  .flatMap(([tag, names]) => names.split(", ").map((name) => ({ name, tag })))
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map((plant, index) => ({ id: BigInt(index + 1), ...plant }));
