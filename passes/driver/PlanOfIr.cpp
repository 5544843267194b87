// Reads attributes of the module and of the step's arguments.
#include "passes/driver/PlanOfIr.h"

#include "compiler/artifact/ExportTensor.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/driver/DescribePlan.h"
#include "passes/driver/IrFile.h"
#include "passes/driver/Phases.h"
#include "passes/driver/Record.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"

using namespace mlir;

namespace cleave::driver {

static void addTensor(func::FuncOp step, unsigned i, const Mesh &mesh, plan::Plan &plan) {
  auto whole = step.getArgAttrOfType<TypeAttr>(i, mesh::kGlobal); // of a partitioned step
  auto type = dyn_cast<RankedTensorType>(whole ? whole.getValue() : step.getArgument(i).getType());
  if (!type)
    return;
  plan::Tensor &out = *plan.add_tensors();
  out.set_name(graph::argName(step, i).str());
  out.set_dtype(artifact::dtypeOf(type.getElementType()));
  out.mutable_shape()->Assign(type.getShape().begin(), type.getShape().end());
  out.set_role(artifact::toFile(*graph::argRole(step, i)));
  out.set_is_label(graph::argRole(step, i) == Role::Label);
  if (auto owner = step.getArgAttrOfType<StringAttr>(i, "graph.parameter"))
    out.set_parameter(owner.str());
  if (auto vocabulary = step.getArgAttrOfType<IntegerAttr>(i, "graph.vocabulary"))
    out.set_vocabulary(vocabulary.getInt());
  if (auto lowest = step.getArgAttrOfType<IntegerAttr>(i, "graph.lowest"))
    out.set_lowest(lowest.getInt());
  if (auto ignored = step.getArgAttrOfType<IntegerAttr>(i, "graph.ignored"))
    out.set_ignored(ignored.getInt());
  out.set_all_of(graph::allOf(step, i).str());
  if (Attribute origin = step.getArgAttr(i, "graph.source"); graph::isOrigin(origin))
    *out.mutable_source() = artifact::sourceOf(origin);
  auto attr = step.getArgAttrOfType<mesh::ShardingAttr>(i, mesh::kSharding);
  if (std::optional<Sharding> layout = attr ? mesh::toSharding(attr, mesh) : std::nullopt)
    for (const std::vector<int> &axes : layout->dims)
      out.add_sharding()->mutable_axes()->Add(axes.begin(), axes.end());
}

static void addSource(ModuleOp module, plan::Plan &plan) {
  if (std::optional<graph::SourceModel> model = graph::sourceModelOf(module)) {
    plan.mutable_source()->set_path(model->path);
    plan.mutable_source()->set_sha256(model->sha256);
    plan.mutable_source()->set_bytes(model->bytes);
  }
}

Result<plan::Plan> planOfIr(const std::string &path) {
  CompileOptions options;
  options.model = path;
  Compilation c(std::move(options));
  CLEAVE_TRY(readIr(c));
  mesh::MeshAttr attr = mesh::meshOf(c.module());
  if (!attr)
    return Status::userError("'", path, "' is IR of a phase before the planner, found no mesh; ",
                             "cleave-compile --stop-after planned writes IR with decisions");
  const Mesh mesh = mesh::toMesh(attr);
  plan::Plan plan;
  artifact::setMesh(mesh, plan);
  plan.set_optimizer(graph::optimizerOf(c.module()));
  plan.set_trains(!plan.optimizer().empty());
  addSource(c.module(), plan);
  if (func::FuncOp step = graph::stepOf(c.module()))
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (std::string fault = graph::argRoleFault(step, i); !fault.empty())
        return Status::userError("'", path, "': ", fault);
      addTensor(step, i, mesh, plan);
    }
  addRecordedDecisions(c.module(), plan);
  for (const Remark &remark : c.remarks)
    addDecision(plan, remark.kind, "remark", "", remark.text);
  return plan;
}

} // namespace cleave::driver
